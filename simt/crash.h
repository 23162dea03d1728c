/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.h - what a crash may leave in persistent memory (persist.h), image after image. Where a run ended, by a crash
 * or by its own end, some words have stores that may be lost: they are *open*. An image has lost the last 0, 1, ... of
 * each open word's stores.
 *
 *     simt_crash *c;
 *     simt_crash_open(m, SIMT_CRASH_ALL, &c);
 *     while (simt_crash_next(c)) ...    // memory is an image now: recover, and look at what there is
 *     simt_crash_close(c);
 *
 * If there are at most `all` images, next makes them all. Else it makes these of S open stores in n words, in which
 * images may be equal: one word has lost some stores and the others none (S); one has lost none and the others all (n);
 * the first k stores are in, and the words of the later ones are older (S + 1); words without a store from number k on
 * have lost all, and the others none (S + 1); 64 random ones.
 *
 * While an image is there, the same machine may run a recovery, whose stores may be lost in a further crash.
 *
 * Images are *lazy* where recovery reads and writes open words only by kernels on the machine, or after it has looked
 * at them. A word stays open until then, and only then there is a choice. So there are fewer images, and they are all
 * that recovery can tell apart. After `all` of them next makes 64 random ones. A lazy recovery is not cut.
 */
#ifndef HD_SIMT_CRASH_H
#define HD_SIMT_CRASH_H

#include "simt/machine.h"

enum { SIMT_CRASH_ALL = 1 << 16 };

typedef struct simt_crash simt_crash;

/* After a run, or in simt_config.durable. It copies the persistent regions; they stay as they are until the first
 * image. */
hd_status simt_crash_open(simt_machine *m, uint64_t all, simt_crash **c);
void simt_crash_close(simt_crash *c); /* NULL is fine */
/* The tickets that were drawn before the crash. *settled: persist_settled(). */
const simt_ticket_record *simt_crash_tickets(const simt_crash *c, size_t *n, size_t *settled);
/* Launches that had ended, and of which the host had made stores durable. */
size_t simt_crash_launches(const simt_crash *c);
/* How many images next makes, or, of lazy ones, may make; how many words are open. */
uint64_t simt_crash_images(const simt_crash *c);
size_t simt_crash_words(const simt_crash *c);
/* Before the first image: they are lazy. */
void simt_crash_lazily(simt_crash *c);
/* The host is about to read these bytes of an image that may be lazy, or to write them. */
void simt_crash_look(const simt_machine *m, const void *p, size_t bytes);
/* Makes memory the next image; false: there are no more. */
bool simt_crash_next(simt_crash *c);
/* Makes memory the image in which word lost[i].at has lost its last lost[i].choice stores, and others have lost none.
 * Words are numbered by their first open store. */
void simt_crash_put(simt_crash *c, const simt_decision *lost, size_t n);
/* What the present image has lost. (*n) */
const simt_decision *simt_crash_lost(const simt_crash *c, size_t *n);
/* Whether the run's event e is a store that the present image has lost. */
bool simt_crash_loses(const simt_crash *c, const simt_event *e);
/* Adds a line for each store that it has lost, the last one first, to a text. */
void simt_crash_tell(const simt_crash *c, char *text, size_t bytes);

/* A crash as text, "7,0:1,3:2": before event 7 (0: at the end of the run), then what is lost. The number of bytes that
 * it would need. */
size_t simt_crash_print(uint64_t crash_at, const simt_decision *lost, size_t n, char *text, size_t bytes);
/* The reverse; HD_EINVAL for text that is none. *n: in the places of lost, out how many. */
hd_status simt_crash_parse(const char *text, uint64_t *crash_at, simt_decision *lost, size_t *n);

#endif
