#!/usr/bin/env python3
"""Compares `vesta record` with perf and bcc on the same loads, in one run. Prints Markdown.

Whole host, 99 Hz. Every profiler records every load in turn, several times over, the order turned round each time;
figures are medians. CPU time is that of the profiler's processes (rusage), so it is little disturbed by what else runs;
"steady" leaves the first 40 % of a recording out.
Needs root. Usage: bench/profiler/profiler_bench.py [--seconds N] [--repeats N] [--loads a,b]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import loads
import tools

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
TITLES = {"vesta": "`vesta record`", "perf-g": "`perf record -g`", "perf-dwarf": "`perf record --call-graph dwarf`",
          "bcc": "bcc `profile`"}
PROGRAMS = {"vesta": "take_cpu_sample", "bcc": "do_perf_event"}


def settle():
    """Loads need a moment: compilers to start, interpreters to warm up."""
    time.sleep(2)


def measure(load, profilers, seconds, repeats):
    """{tool: list of results}"""
    results = {tool.name: [] for tool in profilers}
    with load:
        settle()
        for repeat in range(repeats):
            for tool in profilers if repeat % 2 == 0 else profilers[::-1]:
                print(f"    {load.name}: {tool.name} ({repeat + 1}/{repeats})", file=sys.stderr)
                results[tool.name].append(tool.record(seconds))
    return results


def median(results, key):
    values = [result[key] for result in results if result.get(key) is not None]
    return statistics.median(values) if values else None


def figure(value, form="{:.2f}"):
    return "–" if value is None else form.format(value)


def share(results):
    judged = sum(result["judged"] for result in results)
    return 100 * sum(result["complete"] for result in results) / judged if judged else None


def print_load(load, results):
    print(f"\n### {load.name}: {load.what}\n")
    print("| profiler | CPU s, all | CPU, steady | CPU s, names after | memory MB | written KB/s | samples | lost "
          "| complete stacks | mean depth | start s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, runs in results.items():
        m = lambda key: median(runs, key)
        names = "in it" if name in ("vesta", "bcc") else figure(m("names_cpu"))
        if failed := sum(run["names_failed"] for run in runs):
            names += f" (`perf script` failed in {failed} of {len(runs)})"
        print(f"| {TITLES[name]} | {figure(m('cpu'))} | {figure(m('steady'))} % | {names} | {figure(m('rss'), '{:.0f}')} "
              f"({figure(m('anonymous'), '{:.0f}')} own) | {figure(m('written') / 1e3, '{:.1f}')} "
              f"| {figure(m('samples'), '{:.0f}')} | {figure(m('lost'), '{:.0f}')} | {figure(share(runs))} % "
              f"| {figure(m('depth'), '{:.1f}')} | {figure(m('start'))} |")


def bpftool(*arguments):
    return json.loads(subprocess.run(["bpftool", "-j", *arguments], check=True, capture_output=True, text=True).stdout or "[]")


def bpf_cost(load, tool, seconds):
    """(ns per sample, samples, bytes of maps), from the kernel's own accounting."""
    before_maps = {entry["id"] for entry in bpftool("map", "show")}
    before_programs = {entry["id"] for entry in bpftool("prog", "show")}
    found = {}

    def look(_pid):
        for program in bpftool("prog", "show"):
            if program["id"] not in before_programs and program.get("name", "").startswith(PROGRAMS[tool.name][:15]):
                found["time"], found["runs"] = program.get("run_time_ns", 0), program.get("run_cnt", 0)
        found["maps"] = sum(entry.get("bytes_memlock", 0) for entry in bpftool("map", "show")
                            if entry["id"] not in before_maps)

    with load:
        settle()
        tool.record(seconds, at=(seconds * 0.9, look))
    runs = found.get("runs", 0)
    return (found["time"] / runs if runs else None), runs, found.get("maps", 0)


def print_bpf(all_loads, profilers, seconds):
    print("\n### In the kernel, by its own accounting (`kernel.bpf_stats_enabled`)\n")
    print("| load | profiler | µs per sample | samples | MB of maps |")
    print("|---|---|---|---|---|")
    before = STATS.read_text()
    STATS.write_text("1\n")
    try:
        for load in all_loads:
            for tool in profilers:
                if tool.name not in PROGRAMS:
                    continue
                cost, runs, maps = bpf_cost(load, tool, seconds)
                print(f"| {load.name} | {TITLES[tool.name]} | {figure(cost and cost / 1e3)} | {runs} | {maps / 1e6:.1f} |")
    finally:
        STATS.write_text(before)


def print_interrupts(load, profilers, seconds, repeats):
    """What a sample takes from the program that it interrupts: its work per second of its own CPU time, at 999 Hz."""
    work = {name: [] for name in ["none"] + [tool.name for tool in profilers]}
    for repeat in range(repeats):
        turn = [None, *profilers] if repeat % 2 == 0 else [*profilers[::-1], None]
        for tool in turn:
            with load:
                if tool is None:
                    time.sleep(seconds)
                    rate = float(load.stop()[0])
                else:
                    rates = []
                    tool.record(seconds, 999, at=(seconds * 0.9, lambda _pid: rates.append(load.stop()[0])))
                    rate = float(rates[0])
            work[tool.name if tool else "none"].append(rate)
    base = statistics.median(work["none"])
    print(f"\n### What a sample takes from the interrupted program (999 Hz, {load.name})\n")
    print("| profiler | slower by | µs per sample |")
    print("|---|---|---|")
    for tool in profilers:
        lost = 1 - statistics.median(work[tool.name]) / base
        print(f"| {TITLES[tool.name]} | {100 * lost:.2f} % | {lost / 999 * 1e6:.1f} |")
    spread = (max(work["none"]) - min(work["none"])) / base
    print(f"\nWithout a profiler, runs differ by {100 * spread:.2f} %.")


def print_targets(results):
    print("\n### Targets\n")
    print("| what | measured | target |")
    print("|---|---|---|")
    for name, runs in results.items():
        print(f"| CPU at 99 Hz on 2 busy CPUs, names included, {name} | {figure(median(runs['vesta'], 'steady'))} % of a core "
              "| ≤ 0.3 % |")
    for name, runs in results.items():
        own = median(runs["vesta"], "cpu")
        for peer, target in (("perf-g", "> 1"), ("perf-dwarf", "≥ 10")):
            if peer in runs:
                record, after = median(runs[peer], "cpu"), median(runs[peer], "names_cpu")
                print(f"| CPU of {TITLES[peer]} with names ÷ Vesta's, {name} | {(record + after) / own:.1f} "
                      f"(recording alone {record / own:.2f}) | {target} |")
    if "mix" in results:
        runs = results["mix"]["vesta"]
        print(f"| memory, clang, node, python and java together | {figure(median(runs, 'rss'), '{:.0f}')} MB "
              f"({figure(median(runs, 'anonymous'), '{:.0f}')} MB its own, the rest mapped files) | ≤ 60 MB |")
    starts = [median(runs["vesta"], "start") for runs in results.values()]
    print(f"| launch to the first tick of the clocks, worst load | {max(starts):.2f} s | < 1 s |")


def main():
    quick = os.environ.get("VESTA_BENCH_QUICK") == "1"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3 if quick else 10, help="of each recording")
    parser.add_argument("--repeats", type=int, default=1 if quick else 3)
    parser.add_argument("--loads", default="threads" if quick else "threads,clang,python,mix")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: profilers of the whole host need root")
        return
    bench_dir = pathlib.Path(os.environ.get("BENCH_DIR", ROOT / "build/bench"))
    data = bench_dir / "profiler"
    data.mkdir(parents=True, exist_ok=True)
    every = loads.all_loads(bench_dir, data)
    chosen = [every[name] for name in options.loads.split(",")]
    profilers = tools.all_tools(data, os.environ.get("VESTA", str(ROOT / "build/vesta")))
    load_before = os.getloadavg()[0]
    sys.stdout.reconfigure(line_buffering=True)
    print(f"Recordings of {options.seconds} s, {options.repeats} of each, medians; load average before: {load_before:.1f}.")
    results = {}
    for load in chosen:
        results[load.name] = measure(load, profilers, options.seconds, options.repeats)
        print_load(load, results[load.name])
    print_bpf(chosen, profilers, options.seconds)
    if "threads" in results and not quick:
        print_interrupts(every["threads"], profilers, options.seconds, options.repeats)
    print_targets(results)


if __name__ == "__main__":
    main()
