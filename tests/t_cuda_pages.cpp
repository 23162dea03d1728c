/* SPDX-License-Identifier: Apache-2.0
 *
 * t_cuda_pages.cpp - device memory that can grow (lib/cuda_pages.cu): a growth copies nothing, both addresses have the
 * old memory, each can be given back first, and a call of the driver that fails leaves everything as it was. The
 * runtime and the driver are stubs.
 */
#include "tests/cuda_stub.h"
#include "tests/plain.h"

#include "lib/cuda_pages.cu"

/* Bytes of physical memory that exist; and the handle that is mapped at p, 0: none. */
static size_t physical(void)
{
    size_t bytes = 0;
    for (size_t h : stub_bytes_of) bytes += h;
    return bytes;
}

static CUmemGenericAllocationHandle mapped_at(const void *p, size_t offset)
{
    for (const stub_map &m : stub_maps)
        if (m.handle && m.at == (CUdeviceptr)(uintptr_t)p + offset) return m.handle;
    return 0;
}

static void nothing_is_left(const char *after)
{
    size_t maps = 0;
    for (const stub_map &m : stub_maps) maps += m.handle != 0;
    ok(physical() == 0 && maps == 0 && stub_reserved == 0, after);
}

static void in_order(bool old_first)
{
    void *p = nullptr, *q = nullptr, *r = nullptr;
    int code = 1;
    ok(cuda_pages_take(&p, 5000) == 0 && physical() == 2 * STUB_PAGE, "sizes are rounded up to pages");
    ok(cuda_pages_grow(p, 5 * STUB_PAGE, &q) == 0 && physical() == 5 * STUB_PAGE, "a growth takes what is new");
    ok(mapped_at(p, 0) && mapped_at(q, 0) == mapped_at(p, 0) && mapped_at(q, 2 * STUB_PAGE), "both begin alike");
    ok(cuda_pages_give(old_first ? p : q, &code) && code == 0, "one is given");
    ok(physical() == (old_first ? 5u : 2u) * STUB_PAGE, "the other keeps what it has");
    ok(cuda_pages_grow(old_first ? q : p, 9 * STUB_PAGE, &r) == 0 && physical() == 9 * STUB_PAGE, "and can grow");
    ok(cuda_pages_give(r, &code) && cuda_pages_give(old_first ? q : p, &code), "all are given");
    nothing_is_left("and nothing is left");
    ok(!cuda_pages_give(r, &code), "other memory is not known");
}

/* Each call of the driver fails once. */
static void failures(void)
{
    int failed = 0;
    for (int at = 1, more = 1; more; at++) {
        void *p = nullptr, *q = nullptr;
        int code;
        stub_driver_calls = 0;
        stub_driver_fails = at;
        int took = cuda_pages_take(&p, STUB_PAGE), grew = took ? 1 : cuda_pages_grow(p, 2 * STUB_PAGE, &q);
        more = took || grew;
        failed += more;
        stub_driver_fails = 0;
        ok(took ? !p : (p && (grew ? !q && physical() == STUB_PAGE : q != nullptr)), "a failure changes nothing");
        if (q) cuda_pages_give(q, &code);
        if (p) cuda_pages_give(p, &code);
        nothing_is_left("after a failure nothing is left");
    }
    ok(failed == 9, "nine calls can fail");
}

int main()
{
    void *p = nullptr;
    int code;
    ok(cuda_pages_of(0) == STUB_PAGE, "the device has pages");
    in_order(true);
    in_order(false);
    failures();
    ok(cuda_pages_take(&p, 1) == 0 && stub_allowed == 1 && cuda_pages_give(p, &code), "one device may access it");
    stub_peers = true;
    ok(cuda_pages_take(&p, 1) == 0 && stub_allowed == 2 && cuda_pages_give(p, &code), "and its peers");
    ok(cuda_pages_grow(&p, 1, &p) != 0, "memory that is not known cannot grow");
    nothing_is_left("at the end");
    return plain_finish();
}
