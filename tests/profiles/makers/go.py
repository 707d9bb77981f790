"""Profiles written by Go's own runtime/pprof."""

from pathlib import Path

from .common import CPU_TOTAL, PROGRAMS, Maker, about, burn_truth, need, run, run_json

SOURCE = PROGRAMS / "go"
TOOL = "Go runtime/pprof"
PERIOD_NS = 10_000_000
# For the two profiles of test_diff: the same work, but medium does three times as much in one.
DIFF_ROUNDS = 1000
DIFF_SLOW = 3


def build(shop):
    go = need("go", "golang-go")
    binary = shop.tools / "go-burn"
    run([go, "build", "-o", binary, "."], cwd=SOURCE, env={"GOFLAGS": "-buildvcs=false"})
    return binary


def profile(shop, out, kind, *options):
    # On a busy machine half of the samples would land in runtime.asyncPreempt, and not at random.
    environment = {"GODEBUG": "asyncpreemptoff=1"}
    return run_json([build(shop), "-profile", kind, "-out", out, *options], env=environment)


def make_cpu(shop, work):
    result = profile(shop, work / "go-cpu.pb.gz", "cpu", "-rounds", "1600")
    truth = burn_truth(TOOL, "main.", result["process_cpu_ns"], PERIOD_NS, CPU_TOTAL)
    truth["types"]["cpu"]["tags"] = {"phase": {"heavy": 0.6, "medium": 0.3, "light": 0.1}}
    truth["types"]["cpu"]["inlined"] = ["main.mix"]
    return {"go-cpu.pb.gz": truth}


def make_memory(kind, name):
    def make(shop, work):
        result = profile(shop, work / name, kind)
        kept, dropped = "^main\\.keepBlocks$", "^main\\.dropBlocks$"

        # A collection that starts inside of a function adds a few small objects of the runtime to it.
        def objects(value):
            return [value, value + 8]

        def size(value):
            return [value, value + 8192]

        types = {
            "alloc_objects": {"unit": "count", "cum": {
                kept: objects(result["kept_objects"]), dropped: objects(result["dropped_objects"])}},
            "alloc_space": {"unit": "bytes", "cum": {
                kept: size(result["kept_bytes"]), dropped: size(result["dropped_bytes"])}},
            "inuse_objects": {"unit": "count", "cum": {kept: objects(result["kept_objects"])}},
            "inuse_space": {"unit": "bytes", "cum": {kept: size(result["kept_bytes"])}},
        }
        return {name: {"made_by": TOOL, "types": types}}

    return make


def make_wait(kind, name, function):
    def make(shop, work):
        result = profile(shop, work / name, kind)
        pattern = f"^main\\.{function}$"
        return {name: {"made_by": TOOL, "types": {
            "contentions": {"unit": "count", "cum": {pattern: about(result["waits"], 0.1)}},
            "delay": {"unit": "nanoseconds", "cum": {pattern: about(result["blocked_ns"], 0.1)}},
        }}}

    return make


def make_goroutine(shop, work):
    parked = profile(shop, work / "go-goroutine.pb.gz", "goroutine")["parked"]
    return {"go-goroutine.pb.gz": {"made_by": TOOL, "types": {
        "goroutine": {"unit": "count", "cum": {"^main\\.parkHere$": [parked, parked]}}}}}


def make_diff(shop, work):
    truths = {}
    for name, slow in (("go-cpu-base.pb.gz", 1), ("go-cpu-slow.pb.gz", DIFF_SLOW)):
        result = profile(shop, work / name, "cpu", "-rounds", str(DIFF_ROUNDS), "-slow", str(slow))
        total = 0.6 + 0.3 * slow + 0.1
        truth = burn_truth(TOOL, "main.", result["process_cpu_ns"], PERIOD_NS, CPU_TOTAL)
        shares = truth["types"]["cpu"]["cum_shares"]
        truth["types"]["cpu"]["cum_shares"] = dict(
            zip(shares, (0.6 / total, 0.3 * slow / total, 0.1 / total)))
        truth["slower"] = {"function": "main.medium", "factor": slow}
        truths[name] = truth
    return truths


def _maker(name, make):
    return Maker(name if isinstance(name, list) else [name], make, [SOURCE, Path(__file__)])


MAKERS = [
    _maker("go-cpu.pb.gz", make_cpu),
    _maker("go-heap.pb.gz", make_memory("heap", "go-heap.pb.gz")),
    _maker("go-allocs.pb.gz", make_memory("allocs", "go-allocs.pb.gz")),
    _maker("go-mutex.pb.gz", make_wait("mutex", "go-mutex.pb.gz", "holdAndRelease")),
    _maker("go-block.pb.gz", make_wait("block", "go-block.pb.gz", "receiveSlowly")),
    _maker("go-goroutine.pb.gz", make_goroutine),
    _maker(["go-cpu-base.pb.gz", "go-cpu-slow.pb.gz"], make_diff),
]
