#!/usr/bin/env python3
"""What the always-on agent costs on a host with many busy processes: CPU, memory, and disk while its server is away.

Usage: scripts/bench [--quick] agent
       bench/agent/agent_bench.py [--processes N] [--seconds N] [--warm-up N] [--soak]

Runs N copies of a load that keeps all CPUs busy, and an agent that sends to a server nobody has started, so that every
batch is queued. Prints rows of a Markdown table. CPU is that of the agent's threads and of its programs in the kernel, from its
own /metrics; "flat" compares memory of the first and of the last third. With --soak the exit code says whether memory stayed flat.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/system"), str(ROOT / "tests/compat")]
QUICK = os.environ.get("VESTA_BENCH_QUICK") == "1"

import agent  # noqa: E402
from harness import compile_program, running  # noqa: E402
import contextlib  # noqa: E402

CONFIG = """
agent:
  profiling: {{duration: 10s, upload_interval: 10s}}
  exporters:
    - {{type: otlp, name: server, endpoint: "127.0.0.1:{port}"}}
"""


def size_of(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def row(what, measured, budget=""):
    print(f"| {what} | {measured} | {budget} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=5 if QUICK else 50)
    parser.add_argument("--seconds", type=int, default=12 if QUICK else 120)
    parser.add_argument("--warm-up", type=int, default=5 if QUICK else 40)
    parser.add_argument("--soak", action="store_true", help="fail when memory grows")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="vesta-agent-bench-"))
    try:
        load = compile_program(work, "cpu/shares.c")
        config = work / "vesta.yaml"
        config.write_text(CONFIG.format(port=agent.free_port()))
        with contextlib.ExitStack() as stack:
            for _ in range(args.processes):
                stack.enter_context(running(load))
            profiler = stack.enter_context(agent.Agent("--config", config, state=work / "state"))
            time.sleep(args.warm_up)
            before, began, began_disk = profiler.metrics(), time.monotonic(), size_of(work / "state/queue")
            memory = []
            while time.monotonic() - began < args.seconds:
                time.sleep(1)
                memory.append(profiler.metrics()["vesta_agent_resident_bytes"])
            after, seconds = profiler.metrics(), time.monotonic() - began
            disk = size_of(work / "state/queue") - began_disk
            grown = {name: after[name] - before[name] for name in
                     ("vesta_agent_cpu_seconds_total", "vesta_agent_bpf_seconds_total", "vesta_agent_samples_total")}
            lost = sum(value for name, value in after.items() if name.startswith("vesta_agent_samples_lost_total"))
            profiler.stop(signal.SIGTERM)
        own, kernel, samples = grown.values()
        third = max(1, len(memory) // 3)
        first, last = max(memory[:third]), max(memory[-third:])
        print("| what | measured | budget |\n|---|---|---|")
        row("load", f"{args.processes} busy processes on {os.cpu_count()} CPUs, {seconds:.0f} s after {args.warm_up} s of warm-up")
        row("samples", f"{samples / seconds:.0f} a second at {after['vesta_agent_sample_rate']:.0f} Hz, {lost:.0f} lost")
        row("CPU of the agent's threads", f"{own / seconds * 100:.2f} % of a core", "≤ 0.5 % together")
        row("CPU of its programs in the kernel", f"{kernel / seconds * 100:.2f} % of a core")
        row("memory", f"{max(memory) / 1e6:.0f} MB", "≤ 80 MB")
        row("memory, first and last third", f"{first / 1e6:.1f} and {last / 1e6:.1f} MB", "flat")
        row("queued on disk while the server is away", f"{disk / seconds * 86400 / 1e6:.0f} MB a day", "≤ 100 MB")
        if args.soak and last > first * 1.1 + 4e6:
            sys.exit(f"memory grew from {first / 1e6:.1f} to {last / 1e6:.1f} MB")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
