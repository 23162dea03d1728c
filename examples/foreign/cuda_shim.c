/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_shim.c - see cuda_shim.h: accesses that the compiler tells of (simt/raw_hooks.c) become the machine's, before
 * they are made.
 *
 * A block's __shared__ variables are C variables, one set for all blocks. What a block has in them lies in the
 * machine's shared memory of the block, and is brought into the variables when a lane of it goes on: every way into the
 * machine begins by putting them back and ends by bringing them in, and no lane stops anywhere else.
 */
#include "examples/foreign/cuda_shim.h"

#include <string.h>

#include "simt/raw.h"

extern uint8_t shared_first[] __asm__("__start_cuda_shared") __attribute__((weak));
extern uint8_t shared_end[] __asm__("__stop_cuda_shared") __attribute__((weak));

static uint8_t *inside; /* the block's shared memory that the C variables hold a copy of; NULL: none */

static size_t shared_bytes(void) { return (size_t)(shared_end - shared_first); }

static void put_back(void)
{
    if (inside) memcpy(inside, shared_first, shared_bytes());
    inside = NULL;
}

static uint8_t *of_block(void) { return (uint8_t *)simt_host_shared("cuda_shim.c", "__shared__", shared_bytes(), 16); }

static void bring_in(void)
{
    if (!shared_bytes()) return;
    inside = of_block();
    memcpy(shared_first, inside, shared_bytes());
}

static bool is_shared(const void *p) { return (const uint8_t *)p >= shared_first && (const uint8_t *)p < shared_end; }

/* Where the machine has it. */
static void *place_of(void *p) { return is_shared(p) ? of_block() + ((uint8_t *)p - shared_first) : p; }

void cuda_forget(void) { inside = NULL; }
void cuda_leave(void) { put_back(); }

/* ---- What the compiler tells ----------------------------------------------------------------- */

/* A store is reported before it happens, with the old value; the access itself follows. */
static void access_one(const char *site, uint8_t *p, uint32_t bytes, bool write)
{
    uint8_t unread[16];
    if (write)
        simt_host_store(site, SIMT_ST, p, bytes, p);
    else
        simt_host_load(site, SIMT_LD, p, bytes, unread);
}

void simt_raw_told(const void *address, size_t bytes, bool write, const void *pc)
{
    uint8_t *p = (uint8_t *)(uintptr_t)address;
    bool shared = is_shared(p) && simt_hot.hooks;
    if (!shared && !simt_raw_reaches(p, bytes)) return;
    const char *site = simt_raw_line(pc);
    put_back();
    p = (uint8_t *)place_of(p);
    while (bytes) {
        uint32_t piece = 16;
        while (piece > bytes || (uintptr_t)p % piece) piece /= 2;
        access_one(site, p, piece, write);
        p += piece;
        bytes -= piece;
    }
    bring_in();
}

/* ---- What the kernel says -------------------------------------------------------------------- */

uint64_t cuda_atomic(const char *site, simt_rmw_op op, void *p, uint32_t bytes, uint64_t expected, uint64_t a)
{
    put_back();
    uint64_t old = simt_host_rmw(site, SIMT_GENERIC, op, place_of(p), bytes, expected, a, SIMT_RELAXED);
    bring_in();
    return old;
}

void cuda_sync_block(const char *site)
{
    put_back();
    simt_host_sync_block(site);
    bring_in();
}

void cuda_sync_warp(const char *site)
{
    uint32_t warp = simt_threads() - simt_thread() / 32 * 32;
    put_back();
    simt_host_collective(site, SIMT_SYNC, warp >= 32 ? 0xffffffffu : (1u << warp) - 1, 0, 0);
    bring_in();
}
