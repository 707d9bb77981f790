#!/usr/bin/env python3
"""Reads a real flight recording and a synthetic one, and says how fast that was, in MB per second of one core.

The real one is recorded here, from bench/JfrLoad.java with every allocation and lock event on. Prints markdown.
Usage: bench/jfr_bench.py [--seconds N]
"""
import argparse
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVENTS = ["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB", "jdk.ThreadPark", "jdk.JavaMonitorEnter"]


def record(path, seconds):
    settings = ",".join(f"{event}#enabled=true,{event}#stackTrace=true" for event in EVENTS)
    settings += ",jdk.ThreadPark#threshold=0ns,jdk.JavaMonitorEnter#threshold=0ns"
    subprocess.run(
        ["java", "-Xmx1g", "-XX:TLABSize=16k", "-XX:-ResizeTLAB", "-Xlog:jfr*=off",
         f"-XX:StartFlightRecording:filename={path},settings=profile,{settings}", str(ROOT / "bench/JfrLoad.java"), str(seconds)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(*recordings):
    out = subprocess.run([ROOT / "build/bench/jfr_bench", *map(str, recordings), "--benchmark_repetitions=5",
                          "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
    runs = [b for b in json.loads(out)["benchmarks"] if b.get("run_type") == "iteration"]
    return max(b["bytes_per_second"] for b in runs) / 1e6, runs[0]["file_bytes"] / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=12)
    options = parser.parse_args()
    print("| recording | MB | MB/s, best of 5 | budget |")
    print("|---|---|---|---|")
    if shutil.which("java"):
        folder = ROOT / "build/bench/data"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"load-{options.seconds}.jfr"
        if not path.exists():
            record(path, options.seconds)
        speed, size = measure(path)
        print(f"| real, JDK with allocation and lock events | {size:.1f} | {speed:.0f} | ≥ 100 |")
    else:
        print("| real: skipped, there is no java | | | |")
    speed, size = measure()
    print(f"| synthetic: 24-byte events over 20,000 random stacks and 19,000 label sets | {size:.1f} | {speed:.0f} | |")


main()
