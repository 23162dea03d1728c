/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_specs.h - sources that read a file x, in every form that a file may have. An input of the target `trace`
 * chooses one by its number.
 */
#ifndef HD_FUZZ_TRACE_SPECS_H
#define HD_FUZZ_TRACE_SPECS_H

static const char *const trace_specs[] = {
    "oracleGeneral:x",
    "vscsi:x",
    "vscsi:x,unit=s",
    "txt:x",
    "txt:x,hash=1",
    "csv:x",
    "csv:x,key=1,header=0",
    "csv:x,key=2,time=1,size=3,verb=4,header=1",
    "csv:x,key=1,delim=;,hash=1",
    "kmer:x,3",
    "kmer:x,21",
    "pop:x",
    "pop:x,onehits=0,scramble=0",
    "lcs:x",
    "binary:x,format=<IQIqB,time=1,key=2,size=3,next=4,verb=5",
    "binary:x,format=>dhx2H,time=1,key=3,size=4,unit=ms",
    "twitter:x",
    "cachelib:x",
    "msr:x",
    "mooncake:x",
    "csv:x,key=2,time=1,op_count=3",
};
/* Some are no traces: they make requests of what they read. */
enum { TRACE_SPECS = sizeof trace_specs / sizeof *trace_specs, NO_TRACE = 9, NO_TRACES = 4 };

#endif
