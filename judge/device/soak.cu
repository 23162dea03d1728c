/* SPDX-License-Identifier: Apache-2.0
 *
 * soak.cu - tables under random batches, judged on the device at its full speed (answers.h), by the public interface
 * only.
 *
 *   soak random SECONDS [VARIANT ...]   every variant, in every kind of table that it supports, in three sizes of each
 *                                       and in the largest
 *   soak two SECONDS [VARIANT ...]      the same with two tables of different kinds at a time, each with a thread and a
 *                                       stream of its own
 *   soak reach N SECONDS [VARIANT ...]  N operations by every variant towards every goal, or as many as time permits;
 *                                       prints the goals that were missed
 *   soak huge [VARIANT ...]             a table of more than 2^31 slots (huge.h)
 *
 * Prints rows of tab-separated values. Exit code 0: all is well; 1: something is wrong; 2: usage; 77: there is no
 * device. Environment:
 *
 *   DESIGN    hive, gphash: tables of Hive or GPHash, whose goals are layouts at a load factor of 0.95, or 0.75; ovs,
 *             sl: tables in segments, whose goals are shares of device memory, and growth; otherwise HKV, whose goals
 *             are policies
 *   GOAL      the only goal of reach
 *   SEED      repeats the draws of a run
 *   BATCHES   each table of random and two runs so many batches. Seconds limit the whole run only, so that a run that
 *             ends in time does the same on a machine of any speed
 *   WRONG     a run ends with so many tables that are wrong, not with 8
 *   BACKEND   host or ref: on the host, at a ten-thousandth of the size, to test the judge
 *   SMALL     1: the same size on the device, for sanitizers
 *   KEYS      zipf: the keys of every batch follow Zipf's law with exponent 1, so the most frequent one is in one item
 *             of 10 to 25
 */
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "judge/gphash/device_soak.h"
#include "judge/hive/device_soak.h"
#include "judge/hkv/device_soak.h"
#include "judge/ovs/device_soak.h"
#include "judge/sl/device_soak.h"
#include "judge/device/huge.h"

static const char *backend = "cuda";
static uint64_t batches = UINT64_MAX;
static int wrong_most = 8;
static std::mutex saying;
static std::vector<const char *> variants;
static limits limits_of(uint64_t share)
{
    limits device = { 16u << 20, (272u << 20) / share, (5ull << 30) / share, UINT32_MAX },
           here = { 3000, 6000, 1u << 20, UINT32_MAX };
    return strcmp(backend, "cuda") == 0 && !getenv("SMALL") ? device : here;
}

/* One table for so many seconds or operations, and its row. *own: operations of the variant. */
template <class design>
static bool turn(const place &at, dice &d, const char *variant, const typename design::shape &s, double seconds,
                 double wanted = 1e30, double *own = nullptr)
{
    double start = seconds_now();
    judged<design> j(at, d, s, variant);
    uint64_t wrong = j.go(seconds, wanted, batches);
    std::lock_guard<std::mutex> one(saying);
    if (wrong) j.tell();
    j.its.row(j, wrong ? "WRONG" : "ok", variant, wrong, seconds_now() - start);
    fflush(stdout);
    if (own) *own += (double)j.own;
    return wrong == 0;
}

/* Sizes are the outer loop, so that a run that is cut short has tried all variants. Each turn gets its share of the
 * time that is left, or all of it where BATCHES ends it. A run with many errors ends. */
template <class design>
static bool random_turns(const place &at, uint64_t seed, uint64_t first, uint64_t step, const limits &most,
                         double seconds, bool largest)
{
    const int sizes[] = { 1, 2, 0 };
    double end = seconds_now() + seconds;
    uint64_t each = variants.size() * design::KINDS, all = 3 * each + (largest ? variants.size() : 0);
    int wrong = 0;
    for (uint64_t k = first; k < all && seconds_now() < end && wrong < wrong_most; k += step) {
        bool large = k >= 3 * each;
        uint64_t kind = k % design::KINDS;
        const char *variant = variants[large ? k - 3 * each : k % each / design::KINDS];
        dice d = { seed + k * 1000003 };
        if (!design::fits(variant, kind)) continue;
        typename design::shape s = design::draw(d, variant, kind, large ? 3 : sizes[k / each], most);
        uint64_t sharers = batches == UINT64_MAX ? (all - k + step - 1) / step : 1;
        wrong += !turn<design>(at, d, variant, s, (end - seconds_now()) / (double)sharers);
    }
    return wrong == 0;
}

template <class design> static bool random_soak(uint64_t seed, double seconds)
{
    place at(backend);
    design::heading();
    return random_turns<design>(at, seed, 0, 1, limits_of(1), seconds, true);
}

template <class design> static bool two_soak(uint64_t seed, double seconds)
{
    bool good[2];
    std::thread thread[2];
    design::heading();
    for (uint64_t k = 0; k < 2; k++)
        thread[k] = std::thread([=, &good] {
            place at(backend);
            /* every second one, so that the kinds always differ */
            good[k] = random_turns<design>(at, seed + 77 * k, k, 2, limits_of(4), seconds, false);
        });
    for (std::thread &t : thread) t.join();
    return good[0] && good[1];
}

/* In each round a table for every goal that is not reached; they share the time that is left. */
template <class design> static bool reach_soak(uint64_t seed, double wanted, double seconds)
{
    place at(backend);
    std::vector<double> has(variants.size() * design::GOALS, 0);
    const char *only = getenv("GOAL");
    uint64_t left = 0;
    for (uint64_t k = 0; k < has.size(); k++) {
        bool chosen = !only || design::goal_name(k % design::GOALS) == only;
        if (!chosen || !design::fits_goal(variants[k / design::GOALS], k % design::GOALS))
            has[k] = wanted;
        else
            left++;
    }
    double end = seconds_now() + seconds;
    int wrong = 0;
    design::heading();
    for (uint64_t round = 0; left && seconds_now() < end && wrong < wrong_most; round++) {
        /* that are to come; in this one */
        uint64_t rounds = round < design::ROUNDS ? design::ROUNDS - round : 1, turns = left;
        for (uint64_t k = 0; k < has.size() && wrong < wrong_most; k++) {
            if (has[k] >= wanted) continue;
            dice d = { seed + (round * has.size() + k) * 1000003 };
            double takes = (end - seconds_now()) / (double)(rounds * turns--);
            if (design::ROUNDS > 1 && round < 2) takes /= 4; /* small ones */
            const char *variant = variants[k / design::GOALS];
            typename design::shape s =
                design::draw_for(d, variant, k % design::GOALS, round, (round + k) & 1, limits_of(1));
            wrong += !turn<design>(at, d, variant, s, takes, wanted - has[k], &has[k]);
            left -= has[k] >= wanted;
        }
    }
    for (uint64_t k = 0; k < has.size(); k++)
        if (has[k] < wanted)
            printf("# short: %s under %s: %.4g of %.4g operations\n", variants[k / design::GOALS],
                   design::goal_name(k % design::GOALS).c_str(), has[k], wanted);
    return wrong == 0;
}

static bool huge_soak(uint64_t seed)
{
    place at(backend);
    bool good = true;
    huge::heading();
    for (const char *variant : variants) {
        huge h(at, seed, at.far ? (1ull << 31) + (1u << 20) + 17 : 3000, variant);
        good &= h.go();
    }
    return good;
}

/* The exit code. */
template <class design> static int soak(const std::string &verb, uint64_t seed, double wanted, double seconds)
{
    std::vector<const char *> all = design::variants();
    for (const char *variant : variants) {
        bool known = false;
        for (const char *other : all) known |= strcmp(variant, other) == 0;
        if (known) continue;
        fprintf(stderr, "%s has no variant %s\n", design::name(), variant);
        return 2;
    }
    if (variants.empty()) variants = all;
    const char *only = getenv("GOAL");
    bool there = !only;
    for (uint64_t k = 0; k < design::GOALS; k++) there |= only && design::goal_name(k) == only;
    if (!there) {
        fprintf(stderr, "%s has no goal %s\n", design::name(), only);
        return 2;
    }
    if (verb == "huge") return !huge_soak(seed);
    bool good = verb == "random" ? random_soak<design>(seed, seconds)
                : verb == "two"  ? two_soak<design>(seed, seconds)
                                 : reach_soak<design>(seed, wanted, seconds);
    unsigned long long ordered = judged<design>::ordered_items();
    if (ordered) printf("# %llu items of predecessor, successor and range\n", ordered);
    return !good;
}

int main(int argc, char **argv)
{
    std::string verb = argc > 1 ? argv[1] : "";
    int words = verb == "random" || verb == "two" ? 3 : verb == "reach" ? 4 : 2; /* before the variants */
    const char *given = getenv("SEED"), *design = getenv("DESIGN");
    const std::string of = design ? design : "hkv";
    if ((words == 2 && (verb != "huge" || of != "hkv")) || argc < words) {
        fprintf(stderr, "usage: soak random SECONDS [VARIANT ...] | two SECONDS [VARIANT ...] | reach OPERATIONS "
                        "SECONDS [VARIANT ...] | huge [VARIANT ...]\n");
        return 2;
    }
    if (of != "hkv" && of != "hive" && of != "ovs" && of != "sl" && of != "gphash") {
        fprintf(stderr, "DESIGN: hkv, hive, ovs, sl or gphash, not %s\n", design);
        return 2;
    }
    if (getenv("BACKEND")) backend = getenv("BACKEND");
    if (getenv("WRONG")) wrong_most = atoi(getenv("WRONG"));
    if (words == 3 && getenv("BATCHES")) batches = strtoull(getenv("BATCHES"), nullptr, 10);
    hd_config c = hd_config_default();
    hd_table *t = nullptr;
    c.backend = backend;
    if (hd_open(&c, &t)) {
        printf("# skipped: %s\n", hd_why());
        return 77;
    }
    hd_close(t);
    uint64_t seed = given ? strtoull(given, nullptr, 10) : (uint64_t)time(nullptr);
    printf("# SEED=%llu\n", (unsigned long long)seed);
    for (int i = words; i < argc; i++) variants.push_back(argv[i]);
    double seconds = words > 2 ? atof(argv[words - 1]) : 0, wanted = words > 3 ? atof(argv[2]) : 0;
    if (of == "hive") return soak<hive_soak>(verb, seed, wanted, seconds);
    if (of == "ovs") return soak<ovs_soak>(verb, seed, wanted, seconds);
    if (of == "gphash") return soak<gphash_soak>(verb, seed, wanted, seconds);
    if (of == "sl") return soak<sl_soak>(verb, seed, wanted, seconds);
    return soak<hkv_soak>(verb, seed, wanted, seconds);
}
