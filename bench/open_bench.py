#!/usr/bin/env python3
"""CPU time that a server takes to open a pprof of 300 thousand samples, beside `vesta top` on the same file.

Samples have two labels: one that stays with them, and one that makes series. Prints markdown.
Usage: bench/open_bench.py [--samples N] [--runs N]
"""
import argparse
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/compat"))
sys.path.insert(0, str(ROOT / "tests"))

import pprof_proto  # noqa: E402
import sdk  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def make(path, count):
    chance = random.Random(1)
    samples = []
    for _ in range(count):
        # A walk through a call tree: what is near the root is shared, what is near the leaf is rare.
        stack = ["main"]
        for depth in range(chance.randint(5, 25)):
            stack.append(f"package::function_{depth}_{min(40, int(chance.expovariate(1)))}")
        labels = {"thread": f"t{chance.randint(0, 20)}", "path": f"/p{chance.randint(0, 6)}"}
        samples.append((stack[::-1], [1, chance.randint(1, 5) * 10_000_000], labels))
    types = (("samples", "count"), ("cpu", "nanoseconds"))
    content = pprof_proto.encode(samples, types, time.time_ns() - 60_000_000_000, 30_000_000_000)
    path.write_bytes(gzip.compress(content, 1))


def cpu_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def top(vesta, path):
    process = subprocess.Popen([vesta, "top", str(path)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"vesta top failed with status {status}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000 if os.environ.get("VESTA_BENCH_QUICK") else 300_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    vesta = os.environ.get("VESTA", str(ROOT / "build/vesta"))
    opened = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "open.pb.gz"
        make(path, options.samples)
        size = path.stat().st_size
        reported = min(top(vesta, path) for _ in range(options.runs))
        with sdk.Server() as server:
            for run in range(options.runs):
                before = cpu_of(server.process.pid)
                request = urllib.request.Request(
                    f"{server.url}/api/v1/files?name=run{run}", data=path.read_bytes(), method="POST"
                )
                with urllib.request.urlopen(request) as answer:
                    file = json.load(answer)
                opened.append(cpu_of(server.process.pid) - before)
                urllib.request.urlopen(
                    urllib.request.Request(f"{server.url}/api/v1/files/{file['id']}", method="DELETE")
                ).close()
    best = min(opened)
    print("| what | measured | budget |")
    print("|---|---|---|")
    print(f"| input | {options.samples:,} samples, two types, two labels, {size / 1e6:.1f} MB of gzip | |")
    print(f"| `vesta top`, best of {options.runs}, CPU | {reported:.2f} s | |")
    print(f"| the server opens it, best of {options.runs}, CPU | {best:.2f} s | < 10 times `vesta top` |")


main()
