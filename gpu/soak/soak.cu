/* SPDX-License-Identifier: Apache-2.0
 *
 * soak.cu - tables under random batches, judged on the device at the pace of the device (oracle.h), through the public interface alone.
 *
 *   soak random SECONDS [VARIANT ...]   every variant, policy and mode, three sizes of table each, and one of hundreds of millions of slots
 *   soak two SECONDS                    likewise, two tables of different shape and policy at a time, each by a thread and on a stream of its own
 *   soak reach N SECONDS [VARIANT ...]  N operations by every variant under every policy, or as many as there is time for; says who is short
 *   soak huge [VARIANT ...]             a table of more than 2^31 slots (huge.h)
 *
 * Prints rows of tab-separated values; 0: all is well, 1: not, 77: there is no device. SEED in the environment repeats a run (in time, not in
 * how far it gets). BACKEND=host or ref: on this machine, at a ten-thousandth of the size, to try the judge out.
 */
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/hkv/rows.h"
#include "gpu/soak/huge.h"
#include "gpu/soak/judged.h"

enum { WRONG_MOST = 8 };

static const char *backend = "cuda";
static std::mutex saying;
static std::vector<const char *> variants;
static const char *const policies[] = { "lru", "lfu", "epoch_lru", "epoch_lfu", "custom" };

static limits limits_of(uint64_t share)
{
    limits device = { 16u << 20, (272u << 20) / share, (5ull << 30) / share, UINT32_MAX }, here = { 3000, 6000, 1u << 20, UINT32_MAX };
    return strcmp(backend, "cuda") == 0 ? device : here;
}

/* One table for so many seconds; its row. *own: so many operations more were the variant's. */
static bool turn(const place &at, dice &d, const char *variant, const char *policy, bool dual, int size, const limits &most, double seconds, double *own = nullptr)
{
    double start = seconds_now();
    shape s = draw_shape(d, variant, policy, dual, size, most);
    judged j(at, d, s, variant);
    uint64_t wrong = j.go(seconds);
    std::lock_guard<std::mutex> one(saying);
    if (wrong) j.tell();
    printf("%s\t%s\t%s\t%s\t%llu\t%u\t%u\t%s\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\t%.1f\n", wrong ? "WRONG" : "ok", variant, policy, dual ? "dual" : "single",
           (unsigned long long)s.buckets, s.slots, s.value_bytes, s.layout == HD_LAYOUT_PAIRS ? "pairs" : "planes", s.admit == HD_ADMIT_ALWAYS ? "always" : "score",
           (unsigned long long)s.keys, (unsigned long long)j.items, (unsigned long long)j.own, (unsigned long long)j.batches, (unsigned long long)wrong, seconds_now() - start);
    fflush(stdout);
    if (own) *own += (double)j.own;
    return wrong == 0;
}

static void heading() { printf("verdict\tvariant\tpolicy\tmode\tbuckets\tslots\tvalue_bytes\tlayout\tadmit\tkeys\toperations\tby_variant\tbatches\twrong\tseconds\n"); }

/* Sizes outermost: a run that is cut short has had all variants. Each turn has its part of the time that is left. What is wrong again and again
 * needs no more turns to be seen. */
static bool random_turns(const place &at, uint64_t seed, uint64_t first, uint64_t step, const limits &most, double seconds, bool largest)
{
    std::vector<int> sizes = { 1, 2, 0 };
    double end = seconds_now() + seconds;
    uint64_t each = variants.size() * 10, all = sizes.size() * each + (largest ? variants.size() : 0);
    int wrong = 0;
    for (uint64_t k = first; k < all && seconds_now() < end && wrong < WRONG_MOST; k += step) {
        bool large = k >= sizes.size() * each;
        uint64_t in = k % each, policy = large ? k % 5 : in % 5;
        dice d = { seed + k * 1000003 };
        wrong += !turn(at, d, variants[large ? k - sizes.size() * each : in / 10], policies[policy], large ? k & 1 : in / 5 % 2, large ? 3 : sizes[k / each], most,
                     (end - seconds_now()) / (double)((all - k + step - 1) / step));
    }
    return wrong == 0;
}

static bool random_soak(uint64_t seed, double seconds)
{
    place at(backend);
    heading();
    return random_turns(at, seed, 0, 1, limits_of(1), seconds, true);
}

static bool two_soak(uint64_t seed, double seconds)
{
    bool good[2];
    std::thread thread[2];
    heading();
    for (uint64_t k = 0; k < 2; k++)
        thread[k] = std::thread([=, &good] {
            place at(backend);
            good[k] = random_turns(at, seed + 77 * k, k, 2, limits_of(4), seconds, false); /* every second one: never the same policy and mode */
        });
    for (std::thread &t : thread) t.join();
    return good[0] && good[1];
}

/* Round after round, a table for each that is not there yet: first of a bucket or two, then a small one, then large ones of narrow values, which are
 * fast, but for every fourth. Modes alternate. */
static bool reach_soak(uint64_t seed, double wanted, double seconds)
{
    place at(backend);
    limits any = limits_of(1), narrow = any;
    std::vector<double> has(variants.size() * 5, 0);
    double end = seconds_now() + seconds, part = seconds / (10 * (double)has.size()); /* ten rounds, if all need them */
    int wrong = 0;
    narrow.value_bytes = 24;
    heading();
    for (uint64_t round = 0, left = has.size(); left && seconds_now() < end && wrong < WRONG_MOST; round++) {
        left = 0;
        for (uint64_t k = 0; k < has.size() && wrong < WRONG_MOST; k++) {
            if (has[k] >= wanted) continue;
            left++;
            dice d = { seed + (round * has.size() + k) * 1000003 };
            double takes = round < 2 ? part / 4 : part;
            if (seconds_now() + takes > end) continue;
            wrong += !turn(at, d, variants[k / 5], policies[k % 5], (round + k) & 1, round < 2 ? (int)round : round % 8 == 7 ? 3 : 2, round % 4 == 3 ? any : narrow, takes, &has[k]);
        }
    }
    for (uint64_t k = 0; k < has.size(); k++)
        if (has[k] < wanted) printf("# short: %s under %s: %.4g of %.4g operations\n", variants[k / 5], policies[k % 5], has[k], wanted);
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

int main(int argc, char **argv)
{
    std::string verb = argc > 1 ? argv[1] : "";
    int words = verb == "random" || verb == "two" ? 3 : verb == "reach" ? 4 : 2; /* before the variants */
    const char *given = getenv("SEED");
    if ((words == 2 && verb != "huge") || argc < words) {
        fprintf(stderr, "usage: soak random SECONDS [VARIANT ...] | two SECONDS [VARIANT ...] | reach OPERATIONS SECONDS [VARIANT ...] | huge [VARIANT ...]\n");
        return 2;
    }
    if (getenv("BACKEND")) backend = getenv("BACKEND");
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
    for (uint32_t row = 0; row < HKV_ROWS && variants.empty(); row++)
        for (uint32_t other = 0; other < HKV_ROWS && row == 0; other++)
            if (hkv_is_first(other)) variants.push_back(hkv_rows[other].variant);
    double seconds = words > 2 ? atof(argv[words - 1]) : 0;
    bool good = verb == "random" ? random_soak(seed, seconds) : verb == "two" ? two_soak(seed, seconds) : verb == "reach" ? reach_soak(seed, atof(argv[2]), seconds) : huge_soak(seed);
    return good ? 0 : 1;
}
