# SPDX-License-Identifier: Apache-2.0
"""torch_device.py - heddle.torch on a GPU: checks, and times beside PyTorch's own embeddings. Prints JSON lines.

    PYTHONPATH=WHEEL python3 bench/python/torch_device.py                 # checks, then times
    PYTHONPATH=WHEEL python3 bench/python/torch_device.py check [NAME]    # checks alone, or one of them
    PYTHONPATH=WHEEL python3 bench/python/torch_device.py time [profile]  # times and losses; profile: also each kernel

WHEEL is a folder in which a wheel with CUDA was unpacked (python3 -m zipfile -e heddle-*.whl WHEEL). It needs PyTorch
2.4 or later with CUDA. The exit code is 1 if a check failed, and 77 if there is no GPU.
"""

import copy
import json
import statistics
import sys
import time
import traceback

import torch

import heddle
import heddle.torch as ht

GPU = "cuda"
IDS, DISTINCT, DIM = 1_048_570, 350_000, 128  # the batch that dynamicemb publishes
CHECKS = []


def say(**line):
    print(json.dumps(line), flush=True)


def check(function):
    """A check, for kernels in Triton and without them if it has the parameter `kernels`."""
    CHECKS.append(function)
    return function


def same(a, b, **near):
    torch.testing.assert_close(a.cpu(), b.cpu(), **near)


def ids_of(n, most, seed, device=GPU):
    return torch.randint(0, most, (n,), generator=torch.Generator().manual_seed(seed)).to(device)


def made(dim=8, kernels=None, capacity=1 << 16, **more):
    more.setdefault("optimizer", ht.SGD(0.1))
    e = ht.Embedding(capacity, dim, device=GPU, kernels=kernels, **more)
    assert bool(e._fast()) == (kernels is not False), "Triton is not there"
    return e


# ---- Checks --------------------------------------------------------------------------------------------------------


@check
def initial_rows_are_those_of_the_cpu(kernels):
    ids = torch.cat([torch.arange(-10, 5000), torch.tensor([-(1 << 63), (1 << 63) - 1])])
    for dim in (8, 33, 128):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for init in ("uniform", ht.Uniform(1, 4), ht.Constant(0.5)):
                cpu = ht.Embedding(8, dim, init=init, dtype=dtype, seed=3).look_up(ids)
                e = made(dim, kernels, init=init, dtype=dtype, seed=3)
                for out in (e.look_up(ids.cuda()), e(ids.cuda()), e(ids.cuda())):
                    assert torch.equal(out.cpu(), cpu), (dim, dtype, init)
        normal = ht.Embedding(8, dim, init="normal").look_up(ids)
        same(made(dim, kernels, init="normal")(ids.cuda()), normal, rtol=1e-4, atol=1e-5)


def train_both(ours, theirs, optimizer, rounds=8, near=None):
    near = near or {"rtol": 1e-4, "atol": 1e-4}
    losses = []
    for i in range(rounds):
        ids = ids_of(3000, 1000, i)
        ids[:700] = 7  # often
        weight = torch.randn((len(ids), ours.dim), generator=torch.Generator().manual_seed(i)).cuda()
        for m in (ours, theirs):
            out = m(ids).float()
            loss = (out * weight + 0.1 * out.square()).mean() * 100
            loss.backward()
            losses.append(loss.detach())
        ours.step(), optimizer.step(), optimizer.zero_grad()
        same(losses[-2], losses[-1], **near)
    same(ours.look_up(torch.arange(1000).cuda()).float(), theirs.weight.data.float(), **near)


def twin(e, sparse):
    theirs = torch.nn.Embedding(1000, e.dim, sparse=sparse, device=GPU)
    theirs.weight.data = e.look_up(torch.arange(1000).cuda()).float()
    return theirs


@check
def training_is_as_torch(kernels):
    for dim in (8, 12, 128, 200):
        e = made(dim, kernels)
        theirs = twin(e, False)
        train_both(e, theirs, torch.optim.SGD(theirs.parameters(), lr=0.1))
        e = made(dim, kernels, optimizer=ht.Adam(0.01))
        theirs = twin(e, True)
        train_both(e, theirs, torch.optim.SparseAdam(theirs.parameters(), lr=0.01))
        e = made(dim, kernels, optimizer=ht.Adagrad(0.01, initial_accumulator_value=0.1))
        theirs = twin(e, True)
        train_both(e, theirs, torch.optim.Adagrad(theirs.parameters(), lr=0.01, initial_accumulator_value=0.1))
    for dtype in (torch.float16, torch.bfloat16):
        e = made(64, kernels, dtype=dtype, optimizer=ht.Adam(0.001))
        theirs = twin(e, True)
        train_both(e, theirs, torch.optim.SparseAdam(theirs.parameters(), lr=0.001), near={"rtol": 0.02, "atol": 0.05})


@check
def the_cpu_trains_the_same(kernels):
    for optimizer in (ht.SGD(0.1), ht.Adam(0.01), ht.RowWiseAdagrad(0.1)):
        pair = [made(16, kernels, optimizer=optimizer), ht.Embedding(1 << 16, 16, optimizer=optimizer)]
        for i in range(5):
            for e in pair:
                e(ids_of(500, 100, i, e.device)).square().sum().backward()
                e.step()
        same(*[e.look_up(torch.arange(120, device=e.device)) for e in pair], rtol=1e-4, atol=1e-5)
        parts = [dict(zip(p.key.tolist(), p.score.tolist(), strict=True)) for e in pair for p in e.parts()]
        assert parts[0].keys() == parts[1].keys()


@check
def bags(kernels):
    for mode in ("sum", "mean"):
        e = ht.EmbeddingBag(1 << 16, 16, mode=mode, device=GPU, kernels=kernels, optimizer=ht.SGD(0.1))
        theirs = torch.nn.EmbeddingBag(1000, 16, mode=mode, device=GPU)
        theirs.weight.data = e.look_up(torch.arange(1000).cuda())
        optimizer = torch.optim.SGD(theirs.parameters(), lr=0.1)
        offsets = torch.arange(0, 3000, 6).cuda()
        for i in range(4):
            outs = [m(ids_of(3000, 1000, i), offsets) for m in (e, theirs)]
            same(*outs, rtol=1e-4, atol=1e-4)
            for out in outs:
                out.square().sum().backward()
            e.step(), optimizer.step(), optimizer.zero_grad()
        same(e.look_up(torch.arange(1000).cuda()), theirs.weight.data, rtol=1e-4, atol=1e-4)


@check
def work_follows_the_current_stream(kernels):
    """Ids that a slow producer writes on a side stream: a lookup that ran on another stream would read the old ones."""
    e = made(8, kernels)
    wanted = e.look_up(torch.arange(64).cuda())
    ids, late = torch.full((64,), 999, device=GPU), torch.arange(64).cuda()
    for mode in (e.eval(), e.train()):
        for _ in range(3):
            ids.fill_(999)
            mode(ids)
            torch.cuda.synchronize()
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                torch.cuda._sleep(200_000_000)
                ids.copy_(late)
                out = mode(ids)
                consumed = out.clone()
            side.synchronize()
            assert torch.equal(consumed, wanted)


@check
def graphs_of_lookups(kernels):
    e = made(8, kernels)
    e.insert(torch.arange(100).cuda(), torch.arange(800.0, device=GPU).view(100, 8))
    e.eval()
    h = ht.Handle(e.table)
    ids, out = torch.zeros(64, dtype=torch.int64, device=GPU), torch.zeros(64, e._layout.width, device=GPU)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        e(ids), h.find_out(ids, out)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        y = e(ids)
        h.find_out(ids, out)
    for i in range(5):
        ids.copy_(ids_of(64, 200, i))
        torch.cuda.synchronize()
        graph.replay()
        torch.cuda.synchronize()
        same(y, e.look_up(ids))
        there = ids < 100
        same(out[there][:, :8], e.look_up(ids)[there])


@check
def graphs_of_training_lookups(kernels):
    """Distinct ids: a replay brings new ids in."""
    e = made(8, kernels)
    ids = torch.arange(64).cuda()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side), torch.no_grad():
        e(ids, distinct=True)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side), torch.no_grad():
        y = e(ids, distinct=True)
    for i in range(3):
        ids.copy_(torch.randperm(1000)[:64])
        torch.cuda.synchronize()
        graph.replay()
        torch.cuda.synchronize()
        same(y, ht.Embedding(8, 8).look_up(ids.cpu()))
        assert e.table.contains(ids).all(), i


@check
def graphs_of_training_steps(kernels):
    """Forward pass, backward pass and step in one graph, beside steps without a graph."""
    if not kernels:
        return
    for optimizer in (ht.SGD(0.1), ht.Adam(0.01), ht.Adagrad(0.1)):
        for policy in ("lru", "lfu"):
            pair = [made(16, optimizer=optimizer, policy=policy) for _ in range(2)]
            ids, side, graph = ids_of(3000, 500, 0), torch.cuda.Stream(), torch.cuda.CUDAGraph()

            def work(e, ids):
                e(ids).square().sum().backward()
                e.step()

            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for e in pair:
                    work(e, ids)
            side.synchronize()
            with torch.cuda.graph(graph, stream=side):
                work(pair[0], ids)
            for i in range(5):  # ids that a replay sees first, some of them very often
                ids.copy_(ids_of(3000, 500, i) + 100 * i)
                ids[: 700 * (i % 2)] = 9999
                graph.replay()
                work(pair[1], ids)
            work(pair[0], ids), work(pair[1], ids)
            assert pair[0].steps == pair[1].steps == 7, (pair[0].steps, pair[1].steps)
            assert len(pair[0]) == len(pair[1]) and pair[0].dropped == 0
            all_ids = torch.arange(10_000).cuda()
            same(*[e.look_up(all_ids) for e in pair], rtol=1e-5, atol=1e-6)


@check
def nothing_waits(kernels):
    """A training step, and int32 ids, while PyTorch refuses to synchronise."""
    if not kernels:
        return
    e, other = made(16, optimizer=ht.Adam(0.01)), made(16, optimizer=ht.Adam(0.01))
    for i in range(4):
        ids = ids_of(3000, 500, i)
        if i:
            torch.cuda.set_sync_debug_mode("error")
        try:
            e(ids.int()).square().sum().backward()
            e.step()
            e.prefetch(ids)
            e.eval(), e(ids), e.train()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        other(ids).square().sum().backward()
        other.step()
    assert torch.equal(*[e.look_up(ids) for e in (e, other)])


@check
def gradients_of_any_alignment(kernels):
    pair = [made(16, kernels), made(16, False)]
    for i, at in enumerate((0, 1, 0, 3)):
        gradient = torch.randn(3000 * 16 + at, device=GPU)[at:].view(3000, 16)
        for e in pair:
            e(ids_of(3000, 500, i)).backward(gradient)
            e.step()
    same(*[e.look_up(torch.arange(500).cuda()) for e in pair], rtol=1e-4, atol=1e-4)


@check
def prefetch_and_evictions(kernels):
    e = made(8, kernels)
    e.prefetch(ids_of(500, 300, 1))
    out = e(ids_of(500, 300, 1))
    same(out, ht.Embedding(8, 8).look_up(ids_of(500, 300, 1, "cpu")))
    assert e.counters()["inserted"] == len(e), e.counters()
    e = made(8, kernels, capacity=1024, evicted=1 << 16)
    left = []
    for i in range(20):
        e(ids_of(400, 5000, i)).sum().backward()
        e.step()
        left += [k for b in e.evicted() for k in b.key.tolist()]
    counted = e.counters()
    assert len(left) == counted["evicted"] > 100, (len(left), counted)
    assert counted["inserted"] - len(left) == len(e), counted


@check
def no_silent_zero(kernels):
    for policy in ("lru", "lfu"):
        e = made(8, kernels, capacity=256, policy=policy)
        ids = torch.arange(20_000).cuda()
        out = e(ids)
        same(out, ht.Embedding(8, 8).look_up(ids.cpu()))
        out.sum().backward()
        e.step()
        assert e.dropped == 20_000 - len(e), (e.dropped, len(e))
        changed = (e.look_up(ids).cpu() != out.detach().cpu()).all(1)
        assert int(changed.sum()) == len(e)
        reserved = e(torch.tensor([-1, -2, -3], device=GPU))
        same(reserved, ht.Embedding(8, 8).look_up(torch.tensor([-1, -2, -3])))
        assert e.reserved == 3 and e.unplaced()[:3].tolist() == [-3, -2, -1]


@check
def rows_are_read_before_their_batch_evicts_them(kernels):
    for policy in ("lru", "lfu"):
        e = made(8, kernels, capacity=64, policy=policy, table={"slots": 64})
        ids = torch.arange(64).cuda()
        e(ids).sum().backward()
        e.step()
        trained = e.look_up(ids)
        same(e(torch.arange(500).cuda())[:64], trained)


@check
def moves_and_states(kernels):
    e = made(8, kernels, optimizer=ht.Adam(0.01))
    e(ids_of(500, 300, 1)).sum().backward()
    e.step()
    ids = torch.arange(300).cuda()
    rows = e.look_up(ids).cpu()
    other = made(8, kernels, optimizer=ht.Adam(0.01), capacity=1 << 17)
    other.load_state_dict(e.state_dict())
    same(other.look_up(ids), rows)
    cpu = copy.deepcopy(e)
    cpu._kernels = None
    cpu.cpu()
    assert cpu.table.info["backend"] == "ref"
    same(cpu.look_up(ids.cpu()), rows)
    back = cpu.cuda()
    assert back.table.info["backend"] == "cuda"
    same(back.look_up(ids), rows)


@check
def compilers(kernels):
    torch._dynamo.reset()
    e = made(16, kernels)
    other = copy.deepcopy(e)
    net = torch.nn.Sequential(other, torch.nn.Linear(16, 4, device=GPU))
    plain = torch.nn.Sequential(e, net[1])
    compiled = torch.compile(net, fullgraph=True)
    for i in range(3):
        ids = ids_of(500, 100, i)
        losses = [m(ids).square().mean() for m in (plain, compiled)]
        same(*losses)
        for loss, m in zip(losses, (e, other), strict=True):
            loss.backward()
            m.step()
    same(*[m.look_up(torch.arange(100).cuda()) for m in (e, other)])
    plain.eval(), net.eval()
    same(torch.compile(net, fullgraph=True)(ids), plain(ids))
    same(torch.export.export(net, (ids,)).module()(ids), plain(ids))
    torch.library.opcheck(torch.ops.heddle.embedding.default, (e.number, e._state, ids))


@check
def large_batches(kernels):
    """Batches that are grouped by a hash table: all ids equal, all distinct, and mixed; the same bits in every run."""
    if not kernels:
        return
    n = 300_001
    ids = [torch.full((n,), 5), torch.randperm(n) * 0x123456789AB, ids_of(n, n // 3, 1, "cpu") - 100]
    ids.append(torch.cat([ids[2][: n // 2], ids[0][n // 2 :]]))
    gradient = torch.randn(n, 8, device=GPU)
    for some in (i.cuda() for i in ids):
        rows = []
        for deterministic in (False, False, True):
            torch.use_deterministic_algorithms(deterministic, warn_only=True)
            e = made(8, capacity=1 << 20)
            group = e._fast().groups(some)
            keys, inverse, counts = torch.unique(some, return_inverse=True, return_counts=True)
            order = torch.argsort(group.keys())
            assert torch.equal(group.keys()[order], keys)
            assert torch.equal(group.occurrences()[: group.size][order], counts)
            assert torch.equal(group.keys()[group.inverse()], some) and bool((group.key[group.size :] == -1).all())
            e(some).backward(gradient)
            e.step()
            rows.append(e.look_up(keys))
        torch.use_deterministic_algorithms(False)
        assert torch.equal(rows[0], rows[1]) and torch.equal(rows[0], rows[2]) and e.refused == 0


def run_checks(only):
    failed = 0
    for function in CHECKS:
        if only and function.__name__ != only:
            continue
        for kernels in (True, False):
            begin = time.time()
            try:
                function(kernels)
                torch.cuda.synchronize()
                error = None
            except Exception as e:  # every failure is reported, and the next check runs
                error = f"{type(e).__name__}: {e}"[:600]
                traceback.print_exc()
                failed += 1
            seconds = round(time.time() - begin, 2)
            say(check=function.__name__, kernels=kernels, ok=error is None, error=error, s=seconds)
    return failed


# ---- Times ---------------------------------------------------------------------------------------------------------


# Heddle's, and PyTorch's that does the same. The times are of the first one.
OPTIMIZERS = {
    "adam": (lambda: ht.Adam(1e-3), lambda weights: torch.optim.SparseAdam(weights, lr=1e-3)),
    "adagrad": (lambda: ht.Adagrad(1e-2), lambda weights: torch.optim.Adagrad(weights, lr=1e-2)),
    "sgd": (lambda: ht.SGD(10.0), lambda weights: torch.optim.SGD(weights, lr=10.0)),
}


def batches(count, universe):
    """Batches of IDS ids with DISTINCT distinct ones, out of a universe."""
    made = []
    for i in range(count):
        g = torch.Generator().manual_seed(i)
        some = torch.randperm(universe, generator=g)[:DISTINCT]
        more = some[torch.randint(0, DISTINCT, (IDS - DISTINCT,), generator=g)]
        made.append(torch.cat([some, more])[torch.randperm(IDS, generator=g)].cuda())
    return made


def timed(parts, rounds, warm=5):
    """Medians of the times of some functions that run one after another, in ms: by events, of the whole round, and of
    the host."""
    times = {name: [] for name in [*parts, "all", "host"]}
    for i in range(warm + rounds):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(parts) + 1)]
        begin = time.perf_counter()
        events[0].record()
        for event, work in zip(events[1:], parts.values(), strict=True):
            work(i)
            event.record()
        host = 1000 * (time.perf_counter() - begin)
        events[-1].synchronize()
        if i >= warm:
            for k, name in enumerate(parts):
                times[name].append(events[k].elapsed_time(events[k + 1]))
            times["host"].append(host)
            times["all"].append(events[0].elapsed_time(events[-1]))
    return {name: round(statistics.median(t), 4) for name, t in times.items()}


def queued(work, rounds=50, warm=5):
    """The time of one round of a function, in ms, when the host waits only after all rounds: (wall, host)."""
    for i in range(warm):
        work(i)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for i in range(rounds):
        work(i)
    host = time.perf_counter() - begin
    torch.cuda.synchronize()
    return [round(1000 * t / rounds, 4) for t in (time.perf_counter() - begin, host)]


def training(name, look_up, step, zero, data, rounds=30):
    """Times of one way to train. look_up(ids) gives rows, which depend on something that needs gradients."""
    gradient = torch.randn(IDS, DIM, device=GPU)
    state = {}

    def forward(i):
        state["out"] = look_up(data[i % len(data)])

    def backward(i):
        state.pop("out").backward(gradient)

    def update(i):
        step()
        zero()

    def whole(i):
        look_up(data[i % len(data)]).backward(gradient)
        step()
        zero()

    say(time=name, **timed({"forward": forward, "backward": backward, "step": update}, rounds))
    wall, host = queued(whole, rounds)
    say(time=f"{name}: queued", wall=wall, host=host)


def losses(name, ours, theirs, optimizer, data, rounds=20):
    """Trains both embeddings from the same rows with the same batches, and prints their losses: rows approach targets
    that depend on the id."""
    targets = torch.randn(4096, ours.dim, generator=torch.Generator().manual_seed(7)).to(data[0].device)
    by = {"heddle": [], "torch": []}
    for i in range(rounds):
        ids = data[i % len(data)]
        wanted = targets[ids % len(targets)]
        for who, module in (("heddle", ours), ("torch", theirs)):
            loss = (module(ids) - wanted).square().sum() / 500
            loss.backward()
            by[who].append(loss.detach())
        ours.step(), optimizer.step(), optimizer.zero_grad()
    by = {who: [round(float(loss), 3) for loss in all_] for who, all_ in by.items()}
    apart = max(abs(a - b) / b for a, b in zip(by["heddle"], by["torch"], strict=True))
    say(losses=name, rounds=rounds, most_apart=f"{apart:.1e}", **by)


def losses_of_all(data, universe):
    """Of every optimizer; the batches are those of the times."""
    for name, (optimizer, theirs_of) in OPTIMIZERS.items():
        for kernels in (True, False):
            ours = made(DIM, kernels, capacity=2 * universe, optimizer=optimizer())
            theirs = torch.nn.Embedding(universe, DIM, sparse=True, device=GPU)
            theirs.weight.data = ours.look_up(torch.arange(universe, device=GPU))
            losses(f"{name}, {'kernels' if kernels else 'operations of the table'}", ours, theirs,
                   theirs_of(theirs.parameters()), data)  # fmt: skip
            del ours, theirs
            torch.cuda.empty_cache()


def graph_of_steps(name, e, data):
    """A whole training step, replayed."""
    gradient, ids = torch.randn(IDS, DIM, device=GPU), data[0].clone()
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=side):
        e(ids).backward(gradient)
        e.step()

    def replay(i):
        ids.copy_(data[i % len(data)])
        graph.replay()

    wall, host = queued(replay)
    say(time=f"{name}: a step in a graph", wall=wall, host=host)


def time_ours(data, universe, profile):
    for kernels in (True, False):
        e = made(DIM, kernels, capacity=2 * universe, optimizer=OPTIMIZERS["adam"][0]())
        name = "heddle, kernels" if kernels else "heddle, operations of the table"
        begin = time.time()
        e(data[0])
        torch.cuda.synchronize()
        e(data[0])
        for i, d in enumerate(data[1:]):
            say(time=f"{name}: first sight", forward=timed({"f": lambda _, d=d: e(d)}, 1, 0)["f"], batch=i,
                absent=round(1 - len(e) / universe, 2), compiled_s=round(time.time() - begin, 1))  # fmt: skip
        e.zero_grad()
        training(name, e, e.step, lambda: None, data)
        training(f"{name}, int32 ids", e, e.step, lambda: None, [d.int() for d in data])
        if kernels:
            graph_of_steps(name, e, data)
        say(time=f"{name}: prefetch", ms=timed({"p": lambda i, e=e: e.prefetch(data[i % len(data)])}, 10)["p"])
        if profile:
            kernel_times(name, e, data)
        e.eval()
        with torch.no_grad():
            say(time=f"{name}: evaluation", ms=timed({"e": lambda i, e=e: e(data[i % len(data)])}, 30)["e"])
            small(name, e, data[0][:1024].contiguous())
        say(time=f"{name}: state", refused=e.refused, dropped=e.dropped, size=len(e))
        del e
        torch.cuda.empty_cache()


def kernel_times(name, e, data):
    gradient = torch.randn(IDS, DIM, device=GPU)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
        for i in range(10):
            e(data[i % len(data)]).backward(gradient)
            e.step()
        torch.cuda.synchronize()
    rows = sorted(p.key_averages(), key=lambda r: -r.device_time_total)[:25]
    for row in rows:
        us = round(row.device_time_total / 10, 1)
        say(profile=name, kernel=row.key[:100], per_round=row.count / 10, us_per_round=us)


def small(name, e, ids):
    """A lookup of 1,024 ids: by call, and replayed from a graph."""
    for _ in range(3):
        e(ids)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(1000):
        e(ids)
    host = time.perf_counter() - begin
    torch.cuda.synchronize()
    whole = time.perf_counter() - begin
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=side):
        e(ids)
    replay = timed({"r": lambda i: [graph.replay() for _ in range(100)]}, 10)["r"]
    out, h = torch.empty(1024, e._layout.width, device=GPU), ht.Handle(e.table)
    h.find_out(ids, out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        h.find_out(ids, out)
    find = timed({"r": lambda i: [graph.replay() for _ in range(100)]}, 10)["r"]
    say(time=f"{name}: 1,024 ids", call_host_us=round(1000 * host, 2), call_us=round(1000 * whole, 2),
        replay_us=round(10 * replay, 2), replay_find_out_us=round(10 * find, 2))  # fmt: skip


def time_torch(data, universe):
    for name, make in (("torch.nn.Embedding, sparse", torch.nn.Embedding),
                       ("torch.nn.EmbeddingBag, sparse, bags of one", torch.nn.EmbeddingBag)):  # fmt: skip
        more = {"mode": "sum"} if make is torch.nn.EmbeddingBag else {}
        module, offsets = make(universe, DIM, sparse=True, device=GPU, **more), torch.arange(IDS, device=GPU)
        optimizer = OPTIMIZERS["adam"][1](module.parameters())
        bag = isinstance(module, torch.nn.EmbeddingBag)

        def look_up(ids, module=module, bag=bag, offsets=offsets):
            return module(ids, offsets) if bag else module(ids)

        training(name, look_up, optimizer.step, optimizer.zero_grad, data, 10)
        with torch.no_grad():
            say(time=f"{name}: evaluation", ms=timed({"e": lambda i, f=look_up: f(data[i % len(data)])}, 30)["e"])
        del module, optimizer
        torch.cuda.empty_cache()


def run_times(profile, universe=1 << 20):
    data = batches(4, universe)
    say(device=torch.cuda.get_device_name(), torch=torch.__version__, cuda=torch.version.cuda,
        heddle=heddle.__version__, ids=IDS, distinct=DISTINCT, dim=DIM, optimizer="adam",
        published="dynamicemb, H100: forward 1.34 ms, evaluation 0.64; TBE: 0.35, 0.46")  # fmt: skip
    time_torch(data, universe)
    time_ours(data, universe, profile)
    losses_of_all(data, universe)


def main():
    words = sys.argv[1:]
    if not torch.cuda.is_available():
        print("torch_device.py: there is no GPU", file=sys.stderr)
        return 77
    failed = 0
    if not words or words[0] == "check":
        failed = run_checks(words[1] if len(words) > 1 else None)
    if not words or words[0] == "time":
        run_times("profile" in words)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
