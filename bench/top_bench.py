#!/usr/bin/env python3
"""Times `vesta top` on a pprof of a million samples and 200 thousand locations, and its peak memory per byte of input.

Prints markdown. Usage: bench/top_bench.py [--samples N] [--runs N]
"""
import argparse
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command):
    """Wall time in seconds and peak resident memory in bytes of one run."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.monotonic() - started
    if status != 0:
        raise SystemExit(f"{command[0]} failed with status {status}")
    return elapsed, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--locations", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    vesta = os.environ.get("VESTA", str(ROOT / "build/vesta"))
    folder = ROOT / "build/bench/data"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"top-{options.samples}-{options.locations}.pb"
    if not path.exists():
        subprocess.run([ROOT / "build/bench/make_pprof_bench", str(path), str(options.samples), str(options.locations)], check=True)
    size = path.stat().st_size
    results = [run([vesta, "top", str(path)]) for _ in range(options.runs)]
    best = min(r[0] for r in results)
    peak = max(r[1] for r in results)
    cpu = min(r[2] for r in results)
    print("| what | measured | budget |")
    print("|---|---|---|")
    print(f"| input | {options.samples:,} samples, {options.locations:,} locations, {size / 1e6:.1f} MB | |")
    print(f"| `vesta top`, best of {options.runs}, wall | {best:.2f} s | < 1 s |")
    print(f"| the same, CPU | {cpu:.2f} s | |")
    print(f"| peak memory per byte of input | {peak / size:.1f} | < 10 |")


main()
