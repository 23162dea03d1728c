# SPDX-License-Identifier: Apache-2.0
#
# t_cache_mutants.sh - planted bugs in the policies of exact caches, in curves and in lanes: tests/t_caches, tests/t_curve
# or tests/t_lanes, linked with the changed file, must find each. It needs the objects of a build. That a test passes
# without a bug, it shows itself.
# shellcheck source=tests/cases.sh
. "${top_srcdir:?}/tests/cases.sh"
cd "$top_builddir" || exit 1
if ! ls tests/t_caches.o tools/caches/sieve.o .libs/libtesting.a >/dev/null 2>&1; then skip "planted bugs" "there are no objects"; finish; fi
flags=$(nm tests/t_caches.o | grep -q __gcov && echo --coverage)

# FILE | ROW, or the test of t_curve or t_lanes | BUG | the change, for sed
cat >"$work/bugs" <<'END'
queues     | lru        | a hit changes nothing                          | /lru_hit/,/^}/s/cache_move.*;/(void)b, (void)at;/
queues     | clock      | marked entries leave, too                      | s/while (b->nodes\[oldest\].mark)/while (0)/
queues     | random     | the newest entry leaves                        | s/hd_rng_below(&b->rng, b->bagged)/b->bagged - 1/
ranks      | lfu        | ties by the first request                      | /lfu_hit/,/^}/s/b->number/cache_heap_of(b, at)->time/
cache      | lfu        | the heap forgets the last child                | s/CHILDREN < b->ranks ? least + CHILDREN/CHILDREN < b->ranks ? least + CHILDREN - 1/
cache      | lfu        | the heap does not rise                         | s/for (uint64_t up; p \&\& before/for (uint64_t up; 0 \&\& before/
sieve      | sieve      | a hit moves the entry to the front             | /sieve_hit/,/^}/s/return/cache_move(b, QUEUE, at); return/
sieve      | sieve      | the hand starts at the oldest entry each time  | s/w->hand == QUEUE ?/1 ?/
sieve      | sieve      | the hand goes to older entries                 | /mark = 0/,/at = /s/newer/older/
s3fifo     | s3fifo     | one hit moves to the main queue                | s/mark <= 1/mark < 1/
s3fifo     | s3fifo     | no ghosts                                      | s/cache_trim(b, GHOST, main_most(b))/cache_trim(b, GHOST, 0)/
s3fifo     | s3fifo     | hits are kept on the move to the main queue    | /cache_trim/,/main_evict/s/b->nodes\[at\].mark = 0;//
s3fifo     | s3fifo     | three bits of hits                             | s/HITS_MOST = 3/HITS_MOST = 7/
slru       | slru       | a hit moves to the highest segment             | s/segment++/segment = HIGHEST/
slru       | slru       | a demoted entry is the oldest below            | s/cache_move(b, segment - 1, /cache_move(b, LOWEST, /
twoq       | 2q         | a hit in A1in moves the entry                  | s/list == AM) cache_move(b, AM, at)/list == AM || 1) cache_move(b, b->nodes[at].list, at)/
twoq       | 2q         | Kin of a third                                 | s/capacity \/ 4/capacity \/ 3/
twoq       | 2q         | entries of Am get ghosts in A1out              | s/cache_drop(b, cache_oldest(b, AM));/{ uint32_t y = cache_oldest(b, AM); cache_leave(b, y); cache_move(b, A1OUT, y); cache_trim(b, A1OUT, b->capacity \/ 2); }/
arc        | arc        | the target never moves                         | s/w->target += .*/(void)step;/
arc        | arc        | a tie is not broken for B2                     | s/(in_b2 \&\& t1 == p)/0/
arc        | arc        | steps of one                                   | s/other \/ own/1/
greedy     | lfuda      | counts do not age                              | /lfuda_miss/,/^}/s/->last = .*;/->last = 0;/
greedy     | gdsf       | no key is refused                              | s/ \&\& b->ranked\[0\].rank <= rank//
greedy     | gdsf       | sizes do not count                             | s/sized \&\& size/0 \&\& size/
tinylfu    | tinylfu    | a tie is admitted                              | s/if (seen <= seen_of/if (seen < seen_of/
tinylfu    | tinylfu    | a newcomer to a full cache is not counted      | s/if (!s) sketch_add/if (!s \&\& (b->used < b->capacity || cache_find(b, r->key) != CACHE_NONE)) sketch_add/
tinylfu    | tinylfu    | the newcomer is compared with itself           | s/seen <= seen_of(b, b->nodes\[victim\].key)/seen <= seen_of(b, r->key)/
tinylfu    | tinylfu    | the first victim alone decides                 | s/used -= b->nodes\[victim\].size;/break;/
tinylfu    | tinylfu    | victims leave for a newcomer that is refused   | s/used -= b->nodes\[victim\].size;/& cache_drop(b, victim); victim = QUEUE;/
tinylfu    | tinylfu    | a hit changes nothing                          | /^static hd_status tinylfu_hit/,/^}/s/cache_move.*;/(void)b, (void)at;/
tinylfu    | tinylfu    | the sketch opens with one group                | s/b->bytes ? 1 : b->capacity;/1;/
tinylfu    | tinylfu    | the sketch of a huge cache is as large         | s/entries < OPEN_MOST ? entries : OPEN_MOST/entries/
sketch     | tinylfu    | a column for all rows                          | s/(32 + 4 \* row)/32/
sketch     | tinylfu    | a group for each three entries                 | s/SKETCH_PER_GROUP = [0-9]*/SKETCH_PER_GROUP = 3/
sketch     | tinylfu    | counters of five bits                          | s/SKETCH_MOST = 15/SKETCH_MOST = 31/
sketch     | tinylfu    | counters do not age                            | s/all\[i\] >> 1/all[i]/
sketch     | tinylfu    | an aged sketch begins a whole sample           | s/k->added \/= 2/k->added = 0/
sketch     | tinylfu    | growth forgets counters                        | s/for (uint64_t g = 0; g < more.groups \&\& /for (uint64_t g = 0; 0 \&\& /
tinylfu    | wtinylfu   | a tie enters the main cache                    | s/enters = seen >/enters = seen >=/
tinylfu    | wtinylfu   | hits in probation do not protect               | s/list == WINDOW ? WINDOW : PROTECTED/list/
tinylfu    | wtinylfu   | half of the main cache is protected            | s/% 5 \* 4 \/ 5/% 5 * 4 \/ 6/
tinylfu    | wtinylfu   | the sketch counts misses alone                 | s/if (!s) sketch_add/if (!s \&\& cache_find(b, r->key) == CACHE_NONE) sketch_add/
lirs       | lirs       | the stack is not pruned after a hit            | /mark == LIR) {/,/}/s/stack_prune(b);//
lirs       | lirs       | a hit of an entry in Q alone leaves it there   | /promote(b, at);/,/}/s/queue_push(b, at);/cache_move(b, OUTSIDE, at), queue_push(b, at);/
lruk       | lruk       | no history                                     | s/at == CACHE_NONE ? 0 : \*last_of(b, at)/0/
lruk       | lruk       | ties by chance of the heap                     | s/cache_heap_add(b, at, last, b->number)/cache_heap_add(b, at, last, 0)/
lrfu       | lrfu       | a weight halves in 512 requests                | s/PERIOD_BITS = 10/PERIOD_BITS = 9/
lrfu       | lrfu       | the old sum is lost                            | s/mantissa + ldexp(sum/mantissa + 0 * ldexp(sum/
hyperbolic | hyperbolic | the time since the last request                | /hyperbolic_hit/,/^}/s/times++;/times++; life(b, at)->since = b->number - 1;/
hyperbolic | hyperbolic | sizes do not count                             | s/size ? size : 1/1/
hyperbolic | hyperbolic | a sample of 63                                 | s/SAMPLE = 64/SAMPLE = 63/
clockpro   | clockpro   | tested pages stay cold                         | s/if (tested) promote(b, at);//
clockpro   | clockpro   | the target does not grow                       | s/if (w->spared) w->spared--;//
clockpro   | clockpro   | no new test period                             | s/n->mark = TEST;/n->mark = 0;/
clockpro   | clockpro   | the hot hand skips cold pages                  | s/if (!(\*mark \& HOT) \&\& test_end(b, at)) continue;//
curve      | model_exact   | a distance without its last key             | /^static uint64_t sums_after/,/^}/s/(uint64_t)time + 1/(uint64_t)time + 2/
curve      | model_exact   | a distance without the key itself           | s/n->size + (c->facts.rate/(c->facts.rate/
curve      | model_exact   | the last block does not count               | s/i <= last; i += i/i < last; i += i/
curve      | model_exact   | a key that comes again is there twice       | /hits_add(c, n, 1/,/else/s/if (n->least < .*//
curve      | model_exact   | keys change places when times are packed    | s/t <= last \&\& t < room; t++/t <= last; t++/;s/owner\[t\]/owner[last + 1 - t]/g
curve      | model_exact   | objects that are refused push others        | s/\*least = (uint32_t)k;/*least = (uint32_t)k, k = k == n ? n : 0, *least = (uint32_t)k;/
curve      | model_sampled | the units of a key that left stay           | /^static void sample_fall/,/^}/s/if (n->least < .*//
curve      | model_sampled | the limit does not fall                     | s/limit_set(c, node_hash(c, at) - 1);//
curve      | model_sampled | no correction: sampled requests are all     | s/within(c, c->weighed - hits)/within(c, (c->weighed - hits) * (double)c->facts.requests \/ c->weighed)/
curve      | model_sampled | distances do not grow by the rate           | s/(double)after \/ c->facts.rate/(double)after/
curve      | caches        | kept requests of keys that left             | s/if (sample_has(.*key)) c->kept/c->kept/
curve      | caches        | small caches of the whole capacity          | s/sample_units(c->facts.rate, /sample_units(1, /
lane  | full:lru     | requests at the border are misses             | s/since\[i\] > c->hand/since[i] > c->hand + 1/
lane  | full:lru     | requests that were not the last are entries   | s/while (a->next.*//
lane  | full:fifo    | the newest entry leaves                       | /lane_fifo/,/^}/s/c->hand = ring_after.*//
lane  | full:fifo    | requests of the warm-up count                 | s/ || i < a->counted//
lane  | full:fifo    | all misses evict                              | s/evicted += .*;/evicted += 1;/
lane  | full:clock   | marked entries leave, too                     | /lane_clock/,/^}/s/!= LANE_IN/== 99/
lane  | full:clock   | a hit is forgotten                            | /lane_clock/,/^}/s/LANE_IN | LANE_HIT/LANE_IN/
lane  | full:sieve   | the hand starts at the oldest entry each time | /sieve_evict/,/^}/s/for (;;/for (c->hand = 0;;/
lane  | full:sieve   | a new entry is where the hand waits           | /sieve_evict/,/^}/s/^    c->hand = ring_after.*/c->hand++;/
lane  | full:sieve   | packing leaves the hand where it was          | s/    c->hand = hand;//
lane  | full:sieve   | the ring is never packed                      | s/if (c->used == sieve_room(c)) sieve_pack/if (0) sieve_pack/
lane  | full:s3fifo  | one hit moves to the main queue               | s/<= S3_ONE_HIT/< S3_ONE_HIT/
lane  | full:s3fifo  | stale places are ghosts                       | s/if (!(\*state \& S3_STALE)) return id;/return id;/
lane  | full:s3fifo  | a ghost that room was made of is still one    | /lane_s3fifo/,/^}/s/bool ghost = .*;/bool ghost = queue == S3_GHOST;/
lane  | stale_ghosts | the sixteenth stale place of a key            | s/if ((\*state \& S3_STALE) == S3_STALE) s3_ghosts_pack(a, c);//
lane  | stale_ghosts | a full ring of ghosts                         | s/if (c->ghost.entries == .*//
lane  | full:slru    | a hit moves to the highest segment            | s/state <= SLRU_HIGHEST ? state/0 ? state/
lane  | full:slru    | the lowest segment has a quarter              | s/c->capacity - SLRU_HIGHEST \* quarter/quarter + !quarter/
lane  | full:2q      | a hit in A1in moves the key                   | s/if (\*state == TWOQ_IN + 1) return true;//
lane  | full:2q      | a ghost that room was made of is still linked | s/if (\*state) list_pull(a, c, TWOQ_OUT/if (ghost) list_pull(a, c, TWOQ_OUT/
lane  | full:arc     | a tie is not broken for B2                    | s/(in_b2 \&\& t1 == p)/0/
lane  | full:arc     | steps of one                                  | s/: other \/ own/: 1/
lane  | full:arc     | an entry without a ghost is still counted     | s/if (!l\[ARC_B1\].entries) c->entries--;//
lanes | groups       | neighbours share their bytes                  | s/c->column = j->a.columns++/c->column = j->a.columns++ \/ 2/
lanes | full:fifo    | a key's number is that of another             | s/\*id = t->keys++/*id = t->keys++ % 40/
lanes | groups       | the second group is the first again           | s/group_run(j, cache + first, n)/group_run(j, cache, n)/
END

bugs=0
while IFS='|' read -r file row bug change; do
  file=${file// /} row=${row// /} bug=${bug%"${bug##*[! ]}"}
  mkdir -p "$work"/tools/{caches,lanes}
  path=tools/caches/$file.c test="tests/cache_models.o tests/cache_models_more.o tests/t_caches.o" only=full:$row
  header=
  case $file in
  sketch) path=tools/caches/tinylfu.c header=tools/caches/sketch.h ;;
  curve) path=tools/curve.c test=tests/t_curve.o only=$row ;;
  lane) path=tools/lanes/lanes.c header=tools/lanes/lane.h test=tests/t_lanes.o only=$row ;;
  lanes) path=tools/lanes/lanes.c test=tests/t_lanes.o only=$row ;;
  esac
  changed=${header:-$path} object=${path##*/}
  rm -f "$work"/tools/*/*.h
  cp "$top_srcdir/$path" "$work/$path"
  sed "$change" "$top_srcdir/$changed" >"$work/$changed"
  if cmp -s "$top_srcdir/$changed" "$work/$changed"; then fail "$row:$bug" "the change does not apply"; continue; fi
  # shellcheck disable=SC2086
  objects=$(ls $test tools/baseline.o tools/caches/*.o | grep -vE "heddle-|/${object%.c}\.o")
  # shellcheck disable=SC2086
  if ! said=$($CC -std=c11 -w -D_GNU_SOURCE -O1 -ffp-contract=off -I"$work" -I"$top_srcdir" -I"$top_srcdir/include" $HD_SANITIZE $flags \
    -c "$work/$path" -o "$work/mutant.o" 2>&1 &&
    ./libtool --tag=CC --mode=link $CC -fopenmp $HD_SANITIZE $flags -o "$work/mutant" "$work/mutant.o" $objects \
      libtesting.la libheddle_gfsl.la libheddle_work.la libheddle_all.la -lcmocka -lm 2>&1); then fail "$row:$bug" "$said"; continue; fi
  HEDDLE_TEST_ONLY=$only guard timeout 5 "$work/mutant" >"$work/out" 2>&1
  code=$?
  bugs=$((bugs + 1))
  if [ $code != 0 ]; then pass "$row:$bug"; else fail "$row:$bug" "it is not found"; fi
done <"$work/bugs"

[ "$bugs" -ge 30 ] || fail "there are bugs" "$bugs"
finish
