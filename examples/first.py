# SPDX-License-Identifier: Apache-2.0
import heddle

keys = [1, 2, 3, 4, 1, 5]
t = heddle.Table(capacity=4, slots=4, value="uint64")  # one bucket of four entries
r = t.insert(keys, [10, 20, 30, 40, 11, 50], evicted=True)
for key, outcome in zip(keys, r.outcome):
    print(f"key {key}: {heddle.Outcome(outcome).name.lower()}")
print("evicted: key", *r.evicted.key)
