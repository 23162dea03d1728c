/* SPDX-License-Identifier: Apache-2.0
 *
 * t_expression.c - policies that are expressions: reading and printing, mistakes, the compiled program against the
 * judge's evaluator of the text, the flags that are found, and tables.
 */
#include <stdio.h>
#include <string.h>

#include "judge/expression.h"
#include "judge/rules.h"
#include "policies/claims.h"
#include "policies/expression.h"
#include "tests/testing.h"
#include "workload/expressions.h"

/* ---- One way of writing ------------------------------------------------------------------------ */

static const struct {
    const char *text, *same;
} written[] = {
    { "lru", "lru" },
    { "expr:on_insert=now", "lru" },
    { "expr: admission = now ; on_hit = (now) ; on_insert = max(now, now)", "lru" },
    { "expr:on_insert=given;on_hit=old+given;admission=MAX", "lfu" },
    { "expr:admission=~0;on_hit=given+old;on_insert=given*1+0", "lfu" },
    { "expr:on_insert=(epoch<<32)+tick", "epoch_lru" },
    { "expr:on_insert=now;on_hit=old", "fifo" },
    { "expr:on_insert=given;on_hit=max(old+given,old);admission=MAX", "lfu" },
    { "expr:on_insert=max(now,now-1)", "lru" },
    { "expr:on_insert=min(now|given,now)", "lru" },
    { "expr:on_insert=min(now>>3,now)", "expr:on_insert=now>>3" },
    { "expr:on_insert=max(now&7,now)", "lru" },
    { "expr:on_insert=epoch<<32|min(given,0xffffffff);on_hit=epoch<<32|min((old&0xffffffff)+given,0xffffffff)",
      "epoch_lfu" },
    { "expr:on_insert=given", "expr:on_insert=given" }, /* custom needs scores; this does not */
    { "expr:on_insert=given;on_hit=old+given", "expr:on_insert=given;on_hit=old+given" },
    { "expr:on_insert=2+3*4-1", "expr:on_insert=13" },
    { "expr:on_insert=1-2", "expr:on_insert=0" },
    { "expr:on_insert=0xffffffffffffffff", "expr:on_insert=MAX" },
    { "expr:on_insert=MAX+1", "expr:on_insert=MAX" },
    { "expr:on_insert=7/0", "expr:on_insert=MAX" },
    { "expr:on_insert=7%0", "expr:on_insert=7" },
    { "expr:on_insert=3<<63", "expr:on_insert=MAX" },
    { "expr:on_insert=1<<63>>64", "expr:on_insert=0" },
    { "expr:on_insert=0<<64", "expr:on_insert=0" },
    { "expr:on_insert=4294967296*4294967296", "expr:on_insert=MAX" },
    { "expr:on_insert=4294967295*4294967297", "expr:on_insert=MAX" },
    { "expr:on_insert=1|2^2&2", "expr:on_insert=1" },
    { "expr:on_insert=1<2==1", "expr:on_insert=1" },
    { "expr:on_insert=now>given?now:given", "expr:on_insert=(given<now)?now:given" },
    { "expr:on_insert=epoch<=0xffffffff?now:given", "lru" },
    { "expr:on_insert=min(epoch,MAX)", "expr:on_insert=epoch" },
    { "expr:on_insert=~~now", "lru" },
    { "expr:on_insert=now^now|now", "lru" },
    { "expr:on_insert=now;on_hit=5+old>>1", "expr:on_insert=now;on_hit=(old+5)>>1" },
    { "expr:on_insert=min(given,now)+max(tick,3)", "expr:on_insert=min(given,now)+max(tick,3)" },
    { "expr:on_insert=now?given:0?1:2", "expr:on_insert=now?given:2" },
    { "expr:on_insert=log2(1024)+exp2(0x8000)+log2(0)", "expr:on_insert=655361" },
    { "expr:on_insert=exp2(64<<16)", "expr:on_insert=MAX" },
    { "expr:on_insert=log2(MAX)", "expr:on_insert=4194303" },
    { "expr:on_insert=log2( now + 1 )", "expr:on_insert=log2(now+1)" },
    { "expr:on_insert=tick<<14|spared<<1;on_hit=1|old;admission=MAX;on_evict=old&1?tick<<14|spared<<1:old", "clock" },
    { "expr:on_insert=min(tick,0x3ffffffffffff)<<13|spared;on_hit=(1<<63)+tick;admission=MAX;upper_first=slots*4/"
      "5+spared<"
      "upper;on_evict=upper>slots*4/5+spared?min(tick,0x3ffffffffffff)<<13|spared:old",
      "slru" },
    { "expr:on_insert=ghost?tick+(1<<63):min(tick,0x7fffffffffffffff);on_hit=old&1<<63?max(old,tick+(1<<63)):old;"
      "admission=MAX;upper_first=slots-upper<=slots/4;remember=old&1<<63?0:1;forget=ghosts1>=slots/2",
      "twoq" },
    { "expr:on_insert=(ghost==1?1<<63:0)|min(tick,0x1ffffffffffff)<<14|spared<<2;on_hit=old+min(given,3-(old&3));ad"
      "mission=MAX;on_evict=full&((old&3)>=2-(old>>63))?(1<<63|min(tick,0x1ffffffffffff)<<14|spared<<2)+(old>>63?(o"
      "ld&3)-1:0):old;upper_first=slots-upper<(slots+9)/10;remember=old&1<<63?0:1;forget=ghosts1>=slots-(slots+9)/1"
      "0",
      "s3fifo" },
    { "expr:on_insert=ghost?tick+(1<<63):min(tick,0x7fffffffffffffff);on_hit=tick+(1<<63);admission=MAX;upper_first"
      "=(slots-upper<<32)+(ghost==2)<=state+32768>>16;remember=upper|ghost?1+(old>>63):0;forget=ghost?0:ghosts1>=up"
      "per?1:ghosts1+ghosts2>=slots?2:0;next_state=ghost==1?min(slots<<48,state+max(1<<48,(ghosts2<<48)/max(ghosts1"
      ",1))):ghost==2?state-max(1<<48,(ghosts1<<48)/max(ghosts2,1)):state",
      "arc" },
    { "expr:on_insert=1+min(tick,0x7ffffffffffffffe);on_hit=min(tick,0x7ffffffffffffffe)+1;"
      "admission=freq_old<freq?MAX:0;upper_first=0",
      "tinylfu" },
    { "expr:on_insert=min(tick,0x1ffffffffffff)<<13|spared|1<<63;on_hit=min(tick,0x1ffffffffffff)<<13|8191|1<<62<<"
      "(old>>63);admission=MAX;on_evict=spared<((old>>63)&(max(slots/100,1)<=upper)&(full<="
      "(freq_old>freq_rival)))+(middle-(slots-max(slots/100,1))*4/5)?min(tick,0x1ffffffffffff)<<13|spared:old;"
      "upper_first=spared<middle-(slots-max(slots/100,1))*4/5?2:(spared==middle-(slots-max(slots/100,1))*4/5)&"
      "(upper>=max(slots/100,1))",
      "wtinylfu" },
    { "expr:on_insert=1;upper_first=0;remember=1", "expr:on_insert=1;upper_first=0;remember=1" },
    { "expr:on_insert=now;on_evict=old", "lru" },
};

static void one_way_of_writing(void)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        hd_policy_use use, again;
        test_case("policy=%s", written[i].text);
        must(hd_policy_read(written[i].text, &use));
        check(strcmp(use.text, written[i].same) == 0, "it is %s, not %s", use.text, written[i].same);
        must(hd_policy_read(use.text, &again));
        check(strcmp(use.text, again.text) == 0 && use.number == again.number &&
                  memcmp(&use.program, &again.program, sizeof use.program) == 0,
              "what is printed is another policy: %s", again.text);
    }
    hd_policy_use use;
    must(hd_policy_read("expr:on_insert=given", &use));
    check(use.number == HD_POLICY_custom && !(use.program.flags & HD_SCORES_NEEDED),
          "custom's functions run, scores are "
          "optional");
}

/* ---- Mistakes ---------------------------------------------------------------------------------- */

static const test_refusal mistakes[] = {
    { "expr", "policy: there is no 'expr'; " },
    { "expr:", "policy: column 6: expected on_insert=, on_hit=, admission=, on_evict=, upper_first=" },
    { "expr:on_insert", "policy: column 15: expected '=', found the end" },
    { "expr:on_insert=", "policy: column 16: expected a value, found the end" },
    { "expr:on_miss=1", "policy: column 6: expected on_insert=, on_hit=, admission=, on_evict=, upper_first=" },
    { "expr:on_hit=1", "policy: column 14: expected ';on_insert=', which has no default, found the end" },
    { "expr:on_insert=1;on_insert=1", "policy: column 18: expected each function once" },
    { "expr:on_insert=1;", "policy: column 18: expected on_insert=" },
    { "expr:on_insert=old", "policy: column 16: expected no 'old' in on_insert" },
    { "expr:on_insert=1;admission=1+old", "policy: column 30: expected no 'old' in admission" },
    { "expr:on_insert=givn",
      "policy: column 16: expected old, given, now, tick, epoch, least, spared, an input of a bucket with" },
    { "expr:on_insert=1+*2", "policy: column 18: expected a value, found '*2'" },
    { "expr:on_insert=1;on_hit=least", "policy: column 25: expected no 'least' in on_hit" },
    { "expr:on_insert=1;on_evict=old+least", "policy: column 31: expected no 'least' in on_evict" },
    { "expr:on_insert=1;admission=spared", "policy: column 28: expected no 'spared' in admission" },
    { "expr:on_insert=1;admission=ghost", "policy: column 28: expected no 'ghost' in admission" },
    { "expr:on_insert=1;upper_first=freq;on_hit=freq", "policy: column 42: expected no 'freq' in on_hit" },
    { "expr:on_insert=1;upper_first=freq_old", "policy: column 30: expected no 'freq_old' in upper_first" },
    { "expr:on_insert=1;admission=freq_rival", "policy: column 28: expected no 'freq_rival' in admission" },
    { "expr:on_insert=1;admission=freq", "policy: upper_first= is needed" },
    { "expr:on_insert=1+slots;on_hit=2;admission=3", "policy: upper_first= is needed" },
    { "expr:on_insert=1;remember=1", "policy: upper_first= is needed" },
    { "expr:on_insert=1;upper_first=upper;forget=1", "policy: remember= is needed" },
    { "expr:on_insert=1+spared", "policy: on_hit= is needed: its default is on_insert" },
    { "expr:on_insert=1+least;on_hit=old", "policy: admission= is needed: its default is on_insert" },
    { "expr:on_insert=(1", "policy: column 18: expected ')' or an operator, found the end" },
    { "expr:on_insert=1)", "policy: column 17: expected an operator, ';' or the end, found ')'" },
    { "expr:on_insert=log2(1,2)", "policy: column 22: expected ')', found ',2)'" },
    { "expr:on_insert=min(1)", "policy: column 21: expected ',', found ')'" },
    { "expr:on_insert=max", "policy: column 19: expected '(', found the end" },
    { "expr:on_insert=now?1", "policy: column 21: expected ':' or an operator, found the end" },
    { "expr:on_insert=now!1", "policy: column 19: expected an operator" },
    { "expr:on_insert=-1", "policy: column 16: expected a value, found '-1'" },
    { "expr:on_insert=18446744073709551616", "policy: column 16: expected a number of at most 2^64-1" },
    { "expr:on_insert=0x", "policy: column 16: expected a number of at most 2^64-1, decimal or 0x" },
    { "expr:on_insert=12a", "policy: column 16: expected a number" },
    { "expr:on_insert=now+1;on_hit=now+2;admission=now+3+given*4*5&6|7^8+(now/9)+(now%10)+(tick/11)+(tick%13)+(now/15)",

      "policy: its expressions have more than 12 different constants" },
};

static void mistakes_name_the_column(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        hd_policy_use use;
        test_case("policy=%s", mistakes[i].text);
        must_fail(hd_policy_read(mistakes[i].text, &use), HD_EINVAL, mistakes[i].word);
        check(use.number == HD_POLICY_UNKNOWN, "it has a number");
    }
    hd_policy_use use;
    char text[HD_PROGRAM_TEXT + 200] = "expr:on_insert=now";
    while (strlen(text) < HD_PROGRAM_TEXT) strcat(text, "+now");
    must_fail(hd_policy_read(text, &use), HD_EINVAL, "is longer than 511 characters");
    text[HD_PROGRAM_TEXT - 1 - (HD_PROGRAM_TEXT - 1 - 18) % 4] = 0;
    must_fail(hd_policy_read(text, &use), HD_EINVAL, "take more than 96 steps");
    snprintf(text, sizeof text, "expr:on_insert=%s",
             "(now%3)-((now%5)-((now%7)-((now%9)-((now%11)-((now%13)-(now%2))))))");
    must(hd_policy_read(text, &use)); /* to the right costs nothing */
    const char *deep =
        "((((((now%3)-(now%5))/((now%7)-(now%5)))%(((now%3)-(now%5))/((now%7)-(now%3))))-((now%3)-(now%5)))"
        "/(now%3))";
    snprintf(text, sizeof text, "expr:on_insert=%s", deep);
    must_fail(hd_policy_read(text, &use), HD_EINVAL, "more than 4 values of an expression wait for others");
}

/* ---- The program is what the text says --------------------------------------------------------- */

static uint64_t some(uint64_t *r)
{
    static const uint64_t edge[] = { 0, 1, 2, 3, 31, 32, 63, 64, 65, 1000, 0xfffffffeu, 0xffffffffu, 0x100000000u };
    switch (test_below(r, 4)) {
    case 0: return edge[test_below(r, sizeof edge / sizeof *edge)];
    case 1: return UINT64_MAX - test_below(r, 4);
    default: return test_random(r) >> test_below(r, 64);
    }
}

static void same_values(const char *text, const hd_policy_use *use, uint64_t *r)
{
    judge_expression e;
    check(judge_expression_read(text, &e), "the judge does not read it");
    for (int i = 0; i < 200; i++) {
        bool given = use->program.flags & HD_SCORES_USED; /* a batch has scores only then */
        hd_score_in in = { .given = given ? some(r) : 1, .now = some(r), .tick = some(r) };
        in.epoch = (uint32_t)some(r), in.spared = (uint16_t)some(r), in.least = some(r);
        in.slots = (uint16_t)(2 + test_below(r, 4095)), in.full = test_below(r, 2) == 0, in.state = some(r);
        in.upper = (uint16_t)test_below(r, in.slots + 1u), in.ghost = (uint8_t)test_below(r, 7);
        in.ghosts1 = (uint16_t)test_below(r, in.slots + 1u), in.ghosts2 = (uint16_t)test_below(r, in.slots + 1u);
        in.middle = (uint16_t)test_below(r, in.slots + 1u), in.freq = (uint8_t)test_below(r, 16);
        in.freq_old = (uint8_t)test_below(r, 16), in.freq_rival = (uint8_t)test_below(r, 16);
        judge_score_in to_judge = { in.given,   in.now,    in.tick,  in.epoch,    in.spared,    in.least,
                                    in.slots,   in.full,   in.upper, in.state,    in.ghost,     in.ghosts1,
                                    in.ghosts2, in.middle, in.freq,  in.freq_old, in.freq_rival };
        bool queues = use->program.flags & HD_QUEUES;
        uint64_t old = some(r), is[HD_FUNCTIONS] = { hd_on_insert(use->number, &use->program, in),
                                                     hd_on_hit(use->number, &use->program, old, in),
                                                     hd_admission(use->number, &use->program, in),
                                                     hd_on_evict(use->number, &use->program, old, in, queues) };
        static const char *const function[HD_FUNCTIONS] = { "on_insert",   "on_hit",   "admission", "on_evict",
                                                            "upper_first", "remember", "forget",    "next_state" };
        for (uint32_t f = HD_UPPER_FIRST; f < HD_FUNCTIONS; f++)
            is[f] = hd_queue_function(use->number, &use->program, f, old, in);
        for (int f = 0; f < HD_FUNCTIONS; f++) {
            uint64_t want = judge_expression_value(&e, function[f], old, to_judge);
            if (f == HD_ON_EVICT && want < old && !queues) want = old; /* less spares nothing, as old does */
            check(is[f] == want, "%s old=%llu given=%llu now=%llu tick=%llu epoch=%u: %llu instead of %llu",
                  function[f], (ull)old, (ull)in.given, (ull)in.now, (ull)in.tick, in.epoch, (ull)is[f], (ull)want);
        }
    }
}

/* Random policies, as they are and as they are printed. */
static void programs_are_what_the_texts_say(void)
{
    hd_rng g = hd_rng_from(9);
    uint64_t r = 3, tried = 0, programs = 0, refused = 0, all = test_some(4000);
    for (uint64_t n = 0; n < all; n++) {
        char text[HD_EXPRESSIONS_TEXT];
        hd_policy_use use, again;
        hd_expressions_draw(&g, text);
        test_case("policy=%s", text);
        if (hd_policy_read(text, &use)) {
            bool limit =
                strstr(hd_why(), "different constants") || strstr(hd_why(), "more than") || strstr(hd_why(), "limit");
            check(limit, "%s", hd_why());
            refused++;
            continue;
        }
        same_values(text, &use, &r);
        must(hd_policy_read(use.text, &again));
        check(strcmp(use.text, again.text) == 0, "printed %s, and read again %s", use.text, again.text);
        check(memcmp(&use.program, &again.program, sizeof use.program) == 0, "%s is another program", use.text);
        if (strncmp(use.text, "expr:", 5) == 0) same_values(use.text, &again, &r), programs++;
        tried += 200;
    }
    check(refused * 10 < all, "%llu of %llu were refused", (ull)refused, (ull)all);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        hd_policy_use use;
        if (strncmp(written[i].text, "expr:", 5) != 0) continue;
        test_case("policy=%s", written[i].text);
        must(hd_policy_read(written[i].text, &use));
        same_values(written[i].text, &use, &r);
    }
    test_tried("differential", tried, "inputs of %llu random policies, %llu of them no rows: program and judge agree",
               (ull)all, (ull)programs);
}

/* ---- Flags that are found ----------------------------------------------------------------------- */

enum {
    M = HD_MONOTONE,
    O = HD_ORDER_FREE,
    U = HD_SCORES_USED,
    A = HD_SCORE_ADMITS,
    T = HD_SCORE_IS_TIME,
    H = HD_HITS_ADD,
    S = HD_SPARES | HD_COMPILED_APART,
    L = HD_READS_LEAST | HD_COMPILED_APART,
    P = HD_COMPILED_APART, /* powers and logarithms */
    ALL = HD_ADMITS_ALL,
    Q = HD_QUEUES | HD_COMPILED_APART,
    G = HD_QUEUES | HD_REMEMBERS | HD_COMPILED_APART,
    C = HD_QUEUES | HD_COUNTS | HD_COMPILED_APART
};

static const struct {
    const char *text;
    uint32_t flags;
} claims[] = {
    { "expr:on_insert=given", O | U | A },
    { "expr:on_insert=now;admission=MAX", M | O | T },
    { "expr:on_insert=now;admission=now/2", M | O | T | A },
    { "expr:on_insert=now;admission=100-now", 0 }, /* falls: no group, and no order of the clock */
    { "expr:on_insert=now;admission=~now", 0 },
    { "expr:on_insert=now;on_hit=now+1", M | O | A },
    { "expr:on_insert=now+2;on_hit=now+1", O | A },
    { "expr:on_insert=now/2", O | A },
    { "expr:on_insert=min(now,given);on_hit=now", M | O | U | A },
    { "expr:on_insert=max(now,given);on_hit=now", O | U | A },
    { "expr:on_insert=tick;on_hit=tick;admission=0", O | A }, /* ticks are below now */
    { "expr:on_insert=given;on_hit=old+given", M | U | A | H },
    { "expr:on_insert=given+5;on_hit=old+given;admission=given*2", M | U | H },
    { "expr:on_insert=given;on_hit=old+given;admission=MAX-now", M | U },
    { "expr:on_insert=given;on_hit=old+given+1", M | U | A },
    { "expr:on_insert=given*2;on_hit=old+given", M | U | A | H },
    { "expr:on_insert=given;on_hit=min(old+given*3,1000)", U | A | H },
    { "expr:on_insert=given;on_hit=min(old+given,now)", U | A },
    { "expr:on_insert=1;on_hit=old+1", M | A | H },
    { "expr:on_insert=now;on_hit=old+5;admission=MAX-now", M },
    { "expr:on_insert=given;on_hit=old+1", M | U | A }, /* the sum of what is given is not the number of hits */
    { "expr:on_insert=0;on_hit=min(old+1,7)", A | H },
    { "expr:on_insert=given;on_hit=(epoch<<32)+min(old%0x100000000+given,0xffffffff)", U | A | H },
    { "expr:on_insert=given;on_hit=(epoch<<32)+min(old%0x100000000+given,0x100000000)", U | A },
    { "expr:on_insert=given;on_hit=(epoch<<33)+min(old%0x100000000+given,0xffffffff)", U | A }, /* may be MAX */
    { "expr:on_insert=given;on_hit=(epoch<<31)+min(old%0x100000000+given,0xffffffff)", U | A },
    { "expr:on_insert=given;on_hit=(tick<<32)+min(old%0x100000000+given,0xffffffff)", U | A },
    { "expr:on_insert=given;on_hit=epoch*256|min((old&255)+given,100)", U | A | H },
    { "expr:on_insert=given;on_hit=epoch*256|min((old&254)+given,100)", U | A },
    { "expr:on_insert=1;on_hit=(epoch<<9)+min((old&511)+2,511)", A | H },
    { "expr:on_insert=now;on_hit=max(old,epoch<<32)", M | A | H },
    { "expr:on_insert=given;on_hit=max(old,given)", M | U | A },
    { "expr:on_insert=given;on_hit=max(old,now)", M | U | A },
    { "expr:on_insert=given;on_hit=min(old,now)", U | A },
    { "expr:on_insert=given;on_hit=old*max(given,1)", M | U | A },
    { "expr:on_insert=given;on_hit=old*given", U | A },
    { "expr:on_insert=given;on_hit=old<<given", M | U | A },
    { "expr:on_insert=given;on_hit=old>>1", U | A },
    { "expr:on_insert=given;on_hit=old|now", M | U | A },
    { "expr:on_insert=given;on_hit=old^now", U | A },
    { "expr:on_insert=given;on_hit=epoch?old+1:max(old,given)", M | U | A },
    { "expr:on_insert=given;on_hit=epoch?old+1:given", U | A },
    { "expr:on_insert=now;on_hit=old/2+now", A },
    { "expr:on_insert=1;on_hit=MAX", M | O | A },
    { "expr:on_insert=log2(now)", O | A | P },
    { "expr:on_insert=exp2(given);on_hit=old+given;admission=MAX-log2(now)", M | U | P }, /* falls */
    { "expr:on_insert=exp2(0x30000)+given", O | U | A },                                  /* a constant */
    { "expr:on_insert=now;on_evict=old", M | O | A | T },
    { "expr:on_insert=now;on_evict=old/2", M | O | A | T },                  /* never more than old */
    { "expr:on_insert=now;on_evict=max(old,5);admission=MAX", O | S | ALL }, /* a spared score is no time */
    { "expr:on_insert=now;on_evict=now+5;admission=MAX", O | S | ALL },
    { "expr:on_insert=now;on_evict=0", M | O | A | T },
    { "expr:on_insert=now;on_evict=old+1", A | S }, /* not all are admitted: no groups */
    { "expr:on_insert=least;on_hit=old+given;admission=MAX", M | U | H | L | ALL },
    { "expr:on_insert=least;on_hit=old+given;admission=given", M | U | L },
    { "expr:on_insert=spared;on_hit=old|1;admission=MAX;on_evict=old&1?old+1:old", M | H | S | ALL },
    { "expr:on_insert=1;upper_first=upper>slots/2", A | Q },
    { "expr:on_insert=1;on_evict=old/2;admission=MAX;upper_first=1", O | S | Q | ALL }, /* less than old is another */
    { "expr:on_insert=1;upper_first=1;next_state=state+1", A | G },
    { "expr:on_insert=ghost;on_hit=old;admission=MAX;upper_first=1;remember=1", M | H | G | ALL },
    { "expr:on_insert=1;admission=freq;upper_first=0", C }, /* each item is counted: no groups */
    { "expr:on_insert=1;on_hit=old;admission=MAX;upper_first=freq>1", M | C | ALL },
};

static void flags_are_found(void)
{
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        hd_policy_use use;
        test_case("policy=%s", claims[i].text);
        must(hd_policy_read(claims[i].text, &use));
        check(use.program.flags == claims[i].flags, "it has %s, not %s", hd_policy_flag_words(use.program.flags),
              hd_policy_flag_words(claims[i].flags));
    }
}

/* What is proven, no search refutes. */
static void no_flag_is_refuted(void)
{
    enum { CHAINS = 3000 };
    hd_rng g = hd_rng_from(77);
    uint64_t granted[8] = { 0 }, all = test_some(3000);
    for (uint64_t n = 0; n < all; n++) {
        char text[HD_EXPRESSIONS_TEXT];
        hd_policy_use use;
        hd_expressions_draw(&g, text);
        if (hd_policy_read(text, &use) || use.number != HD_POLICY_EXPRESSION) continue;
        test_case("policy=%s", use.text);
        uint32_t gone = hd_claims_refuted(use.number, &use.program, UINT32_MAX, CHAINS), is = use.program.flags;
        const uint32_t found = U | HD_KEEPS_ORDER; /* of functions that matter, not claims */
        check(!(is & gone & ~found), "refuted: %s", hd_policy_flag_words(is & gone));
        uint32_t matters = gone & found & ~is;
        if (!strstr(use.text, "given")) matters &= ~(uint32_t)U; /* a program may count hits by it */
        check(!matters, "it matters: %s", hd_policy_flag_words(matters));
        for (int bit = 0; bit < 8; bit++) granted[bit] += is >> bit & 1;
    }
    test_note("of %llu random policies: %llu MONOTONE, %llu ORDER_FREE, %llu SCORE_ADMITS", (ull)all, (ull)granted[0],
              (ull)granted[1], (ull)granted[4]);
    check(granted[0] && granted[1] && granted[4], "some have flags");
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static hd_config config_of(const char *policy)
{
    hd_config c =
        test_usual(.backend = test_backend("ref"), .capacity = 64, .slots = 16, .policy = policy, .value_bytes = 8);
    return c;
}

/* hd_info says the policy in a way that opens the same table, whatever became of the caller's text. */
static void tables_keep_the_text(void)
{
    char text[64] = "expr:on_insert = 3 + 4 + given";
    hd_config c = config_of(text);
    hd_table *t, *other;
    hd_info a, b;
    must(hd_open(&c, &t));
    memset(text, 'x', sizeof text - 1);
    must(hd_table_info(t, &a));
    assert_string_equal(a.policy, "expr:on_insert=given+7");
    assert_string_equal(a.policy_flags, "ORDER_FREE SCORE_ADMITS, scores optional");
    c.policy = a.policy;
    must(hd_open(&c, &other));
    must(hd_table_info(other, &b));
    assert_string_equal(a.policy, b.policy);
    must(hd_grow(t, 8));
    must(hd_table_info(t, &a));
    assert_string_equal(a.policy, "expr:on_insert=given+7");
    hd_close(t);
    hd_close(other);
    c.policy = "expr:on_insert=now";
    must(hd_open(&c, &t));
    must(hd_table_info(t, &a));
    hd_close(t);
    assert_string_equal(a.policy, "lru"); /* static */
    assert_string_equal(a.policy_flags, "MONOTONE ORDER_FREE SCORE_ADMITS SCORE_IS_TIME");
    c.policy = "expr:on_insert=now+";
    must_fail(hd_open(&c, &t), HD_EINVAL, "policy: column 20");
    must(hd_config_set(&c, "policy", "expr:on_insert=given;on_hit=old+1"));
    must(hd_open(&c, &t));
    uint64_t key = 5, value = 6, score = 0, out = 0;
    hd_batch in = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 1, .key = &key, .value = &value }; /* scores are optional */
    must(hd_run(t, &in));
    must(hd_run(t, &in));
    hd_batch look = { .op = HD_OP_FIND, .n = 1, .key = &key, .value_out = &out, .score_out = &score };
    must(hd_run(t, &look));
    check(score == 2, "the score is %llu", (ull)score);
    in.score = &value;
    in.raw_scores = true;
    must(hd_run(t, &in));
    must(hd_run(t, &look));
    check(score == 6, "a raw score is stored as it is: %llu", (ull)score);
    hd_close(t);
}

/* A design without scores has no other policy. */
static void a_dictionary_has_none(void)
{
    hd_config c = hd_config_of("hive");
    hd_table *t;
    c.policy = "expr:on_insert=now";
    must_fail(hd_open(&c, &t), HD_EINVAL, "policy: hive has 'none' alone");
    c.policy = "none";
    hd_info info;
    must(hd_open(&c, &t));
    must(hd_table_info(t, &info));
    assert_string_equal(info.policy_flags, "");
    hd_close(t);
}

/* The text survives, other policies are refused, and every damaged byte in front of the sections is found. */
static void snapshots_keep_the_text(void)
{
    static const char policy[] = "expr:on_insert=given;on_hit=now+(old>>1)";
    hd_config c = config_of(policy), row = config_of("lfu");
    hd_table *t, *again, *other;
    hd_snapshot_info said;
    char file[512], bad[512];
    snprintf(file, sizeof file, "%s/expression.hdd", test_folder());
    snprintf(bad, sizeof bad, "%s/bad.hdd", test_folder());
    uint64_t key[20], value[20];
    must(hd_open(&c, &t));
    for (uint64_t i = 0; i < 20; i++) key[i] = 3 * i + 1, value[i] = i;
    hd_batch b = { .op = HD_OP_INSERT_OR_ASSIGN, .n = 20, .key = key, .value = value };
    must(hd_run(t, &b));
    must(hd_save(t, file));
    must(hd_snapshot_inspect(file, &said));
    check(said.version == 2 && strcmp(said.policy, policy) == 0 && said.config.policy == said.policy, "it has %s",
          said.policy);
    must(hd_open_snapshot(file, NULL, &again));
    hd_info info;
    must(hd_table_info(again, &info));
    assert_string_equal(info.policy, policy);
    must(hd_save(again, bad));
    must(hd_open(&row, &other));
    must_fail(hd_load(other, file, NULL), HD_EINVAL, "policy: ");
    must(hd_load(t, file, NULL));
    hd_close(again);
    hd_close(other);
    char wide[HD_PROGRAM_TEXT] = "expr:on_insert=now";
    for (int i = 0; i < 32; i++) strcat(wide, "+given");
    hd_config long_one = config_of(wide);
    must(hd_open(&long_one, &other));
    must_fail(hd_save(other, file), HD_EINVAL, "and a snapshot keeps 239");
    hd_close(other);
    must(hd_load(t, file, NULL)); /* the old file stands */
    static char bytes[1 << 16];
    FILE *f = fopen(file, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    check(n == said.file_bytes && memcmp(bytes + 256, policy, sizeof policy) == 0, "the text is at byte 256");
    for (size_t at = 0; at < 512; at++) {
        test_case("byte %zu damaged", at);
        bytes[at] ^= 0x10;
        f = fopen(bad, "wb");
        fwrite(bytes, 1, n, f);
        fclose(f);
        bytes[at] ^= 0x10;
        must_fail(hd_load(t, bad, NULL), HD_ECORRUPT, at < 8 ? "no Heddle snapshot" : at < 256 ? "header" : "policy");
        must_fail(hd_snapshot_inspect(bad, &said), HD_ECORRUPT, "");
    }
    for (size_t length = 0; length < 520; length += 8) {
        test_case("cut after %zu bytes", length);
        f = fopen(bad, "wb");
        fwrite(bytes, 1, length, f);
        fclose(f);
        must_fail(hd_load(t, bad, NULL), HD_ECORRUPT, length < 256 ? "" : "cut short");
    }
    hd_close(t);
}

static const struct CMUnitTest tests[] = {
    unit(one_way_of_writing),    unit(mistakes_name_the_column), unit(programs_are_what_the_texts_say),
    unit(flags_are_found),       unit(no_flag_is_refuted),       unit(tables_keep_the_text),
    unit(a_dictionary_has_none), unit(snapshots_keep_the_text),
};

int main(void) { return test_run(tests); }
