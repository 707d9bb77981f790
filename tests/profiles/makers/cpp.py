"""C++: gperftools' CPU and heap profilers (converted to pprof), and perf."""

import ctypes.util
from pathlib import Path

from .common import (CPU_TOTAL, PROGRAMS, Failure, Maker, Skip, about, burn_truth, fetch, need, run,
                     run_json)

SOURCE = PROGRAMS / "cpp/burn.cc"
# `go tool pprof` reads symbols of Go programs only; the stand-alone pprof asks addr2line or
# llvm-symbolizer, and so finds C++ functions and what was inlined. This release builds with Go 1.19.
PPROF = "github.com/google/pprof@v0.0.0-20230926050212-f7f687d19a98"
FLAGS = ["-std=c++17", "-O2", "-g", "-fno-omit-frame-pointer", "-Wall", "-Wextra"]
ROUNDS = "1500"
PERIOD_NS = 10**9 // 199


def build(shop, name, *flags):
    binary = shop.tools / name
    run([need("g++", "g++"), *FLAGS, SOURCE, "-o", binary, *flags])
    return binary


def build_with(shop, name, define, library):
    if not ctypes.util.find_library(library) or not Path("/usr/include/gperftools").is_dir():
        raise Skip("gperftools is not installed (Debian package libgoogle-perftools-dev)")
    # The program calls into the library, but only tcmalloc's interposition needs it when it does not.
    return build(shop, name, f"-D{define}", "-Wl,--no-as-needed", f"-l{library}")


def to_pprof(shop, binary, raw, out):
    go = need("go", "golang-go")
    need("addr2line", "binutils")
    folder = shop.tools / "pprof"
    if shop.needs_install(folder, PPROF):
        folder.mkdir(exist_ok=True)
        fetch([go, "install", PPROF], PPROF, env={"GOBIN": str(folder), "GOFLAGS": ""})
        shop.mark_installed(folder, PPROF)
    run([folder / "pprof", "-proto", f"-output={out}", binary, raw])


def make_cpu(shop, work):
    binary = build_with(shop, "cpp-burn-cpu", "VESTA_GPERFTOOLS_CPU", "profiler")
    raw = work / "cpu.prof"
    result = run_json([binary, "cpu", ROUNDS, raw], env={"CPUPROFILE_FREQUENCY": "199"})
    to_pprof(shop, binary, raw, work / "cpp-cpu.pb.gz")
    truth = burn_truth("gperftools and pprof", "victim::", result["process_cpu_ns"], PERIOD_NS, CPU_TOTAL)
    truth["types"]["cpu"]["inlined"] = ["victim::Xorshift::step", "victim::spin"]
    return {"cpp-cpu.pb.gz": truth}


def make_heap(shop, work):
    binary = build_with(shop, "cpp-burn-heap", "VESTA_GPERFTOOLS_HEAP", "tcmalloc")
    result = run_json([binary, "heap", work / "heap"])
    to_pprof(shop, binary, work / "heap.0001.heap", work / "cpp-heap.pb.gz")
    kept, dropped = "^victim::keep_blocks$", "^victim::drop_blocks$"

    def value(unit, of_kept, of_dropped=None):
        cum = {kept: [of_kept, of_kept]}
        if of_dropped is not None:
            cum[dropped] = [of_dropped, of_dropped]
        return {"unit": unit, "cum": cum}

    return {"cpp-heap.pb.gz": {"made_by": "gperftools and pprof", "types": {
        "alloc_objects": value("count", result["kept_objects"], result["dropped_objects"]),
        "alloc_space": value("bytes", result["kept_bytes"], result["dropped_bytes"]),
        "inuse_objects": value("count", result["kept_objects"]),
        "inuse_space": value("bytes", result["kept_bytes"]),
    }}}


def make_perf(shop, work):
    perf = need("perf", "linux-perf")
    binary = build(shop, "cpp-burn")
    data = work / "perf.data"
    try:
        # Without build ids and BPF programs: some versions crash on those of newer kernels, now and then.
        result = run_json([perf, "record", "-q", "-B", "--no-bpf-event", "-e", "cpu-clock", "-F", "199", "-g", "-o", data,
                           binary, "cpu", ROUNDS])
        text = run([perf, "script", "-i", data])
    except Failure as error:
        raise Skip(f"perf cannot record here: {error}") from None
    (work / "perf-cpp.perf.txt").write_text(text)
    truth = burn_truth("perf record, perf script", "victim::", result["process_cpu_ns"], PERIOD_NS, CPU_TOTAL)
    events = sum(1 for line in text.splitlines() if "cpu-clock" in line and line[:1].strip())
    truth["events"] = about(events, 0)
    return {"perf-cpp.perf.txt": truth}


def _maker(name, make):
    return Maker([name], make, [SOURCE, Path(__file__)])


MAKERS = [
    _maker("cpp-cpu.pb.gz", make_cpu),
    _maker("cpp-heap.pb.gz", make_heap),
    _maker("perf-cpp.perf.txt", make_perf),
]
