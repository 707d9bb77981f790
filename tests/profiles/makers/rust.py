"""Rust: the pprof crate, which samples from inside the program."""

import gzip
import re
from pathlib import Path

from .common import PROGRAMS, Maker, burn_truth, fetch, need, run, run_json

SOURCE = PROGRAMS / "rust"


def cargo_environment(cargo):
    """Before 1.68 cargo fetches the whole crates.io index with git, minutes of it; the quick way of
    later releases is there already in Debian 12's 1.65, but as an unstable option."""
    version = re.search(r"cargo (\d+)\.(\d+)", run([cargo, "--version"]))
    if version and (int(version[1]), int(version[2])) < (1, 68):
        return {"RUSTC_BOOTSTRAP": "1", "CARGO_UNSTABLE_SPARSE_REGISTRY": "true"}
    return {}


def make_cpu(shop, work):
    cargo = need("cargo", "cargo")
    need("rustc", "rustc")
    target = shop.tools / "rust"
    fetch([cargo, "build", "--release", "--locked", "--jobs", "2", "--target-dir", target],
          "the crates of tests/programs/rust", cwd=SOURCE, env=cargo_environment(cargo), timeout=1200)
    raw = work / "rust-cpu.pb"
    result = run_json([target / "release/burn", raw])
    (work / "rust-cpu.pb.gz").write_bytes(gzip.compress(raw.read_bytes(), mtime=0))
    # Finding names after the burning costs the process CPU time as well.
    truth = burn_truth("the pprof crate", "burn::", result["process_cpu_ns"], 10**9 // 199, (0.6, 1.5))
    truth["types"]["cpu"]["inlined"] = ["burn::mix", "burn::spin"]
    return {"rust-cpu.pb.gz": truth}


MAKERS = [Maker(["rust-cpu.pb.gz"], make_cpu, [SOURCE, Path(__file__)])]
