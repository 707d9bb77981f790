#!/usr/bin/env python3
"""The store under the synthetic fleet of bench/fleet: writes, disk, queries, memory, start, cost against retention.

Usage: scripts/bench [--quick] store
       bench/store/store_bench.py [--services N] [--hours N] [--days 1,7,30] [--directory DIR] [--plot FILE]

Prints rows of a Markdown table, and draws cost against retention into bench/store/retention.svg. Each figure comes from a process
of its own (build/bench/store_bench PHASE); "cold" is a fresh process after the page cache of the store's files was dropped,
"warm" the best of five in the same process. A full run takes about an hour and 15 GB of disk.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("BENCH_DIR", ROOT / "build/bench")) / "store_bench"
QUICK = os.environ.get("VESTA_BENCH_QUICK") == "1"
PODS = 10
PER_HOUR = 360  # profiles of a pod


def phase(name, *arguments):
    """Runs one phase and returns its figures."""
    result = subprocess.run([PROGRAM, name, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"store_bench {name} failed: {result.stderr.strip()}")
    return {key: float(value) for key, value in (line.split() for line in result.stdout.splitlines())}


def drop_cached_pages(directory):
    for path in Path(directory).rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def size_of(directory):
    """Without messages, and without the room that is kept for a full disk."""
    files = (path for path in Path(directory).rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files if not path.name.startswith("LOG") and path.name != "reserve")


def row(what, measured, budget=""):
    print(f"| {what} | {measured} | {budget} |", flush=True)


def note(text):
    print(text, file=sys.stderr, flush=True)


def ask(directory, name, services, intervals):
    """The same question of a cold and of a warm store."""
    drop_cached_pages(directory)
    return phase("query", directory, name, services, intervals)


def in_ms(figures):
    return f"{figures['warm_ms']:.1f} ms warm, {figures['cold_ms']:.1f} ms cold"


def measure_writes(work):
    shape = phase("shape")
    row("a profile", f"{shape['samples']:.0f} stacks, {shape['depth']:.0f} deep, {shape['locations']:,.0f} locations, "
        f"{shape['functions']:,.0f} functions; pprof {shape['raw_bytes'] / 1e3:.0f} KB, gzip {shape['gzip_bytes'] / 1e3:.0f} KB")
    seconds = 1 if QUICK else 10
    for threads in (1, 8):
        figures = phase("ack", work / f"ack{threads}", seconds, threads)
        row(f"durable ack of one profile, {threads} client{'s' if threads > 1 else ''}",
            f"p50 {figures['p50_ms']:.2f} ms, p99 {figures['p99_ms']:.2f} ms, {figures['profiles_per_s']:,.0f} profiles/s",
            "p50 ≤ 5 ms")
    figures = phase("pprof", work / "pprof", 200 if QUICK else 80 * PER_HOUR)
    row(f"from gzip pprof ({figures['gzip_bytes'] / 1e3:.0f} KB, {figures['samples']:.0f} stacks) to the store, one thread",
        f"{figures['profiles_per_core_s']:,.0f} profiles/s per core (decode {figures['decode_us']:.0f} µs, "
        f"store {figures['store_us']:.0f} µs, of which hashing {figures['hash_us']:.0f}), "
        f"{figures['profiles_per_core_s'] * figures['gzip_bytes'] / 1e6:.0f} MB/s of gzip", "≥ 1,500 of 85 KB: 128 MB/s")


def measure_day(work, services, hours):
    directory = work / "day"
    intervals = hours * PER_HOUR
    note(f"loading {services} services × {PODS} pods × {hours} h")
    loaded = phase("load", directory, services, PODS, 0, intervals)
    size = size_of(directory)
    samples = loaded["samples"]
    row("data", f"{services} services × {PODS} pods × {hours} h: {loaded['profiles'] / 1e6:.2f} M profiles, "
        f"{samples / 1e6:,.0f} M samples, {loaded['stacks'] / 1e6:.2f} M stacks, {size / 1e9:.2f} GB")
    row("writes from memory, with flush and compaction", f"{loaded['profiles'] / loaded['write_cpu_s']:,.0f} profiles/s per core")
    row("the same, with roll-ups", f"{loaded['profiles'] / loaded['cpu_s']:,.0f} profiles/s per core")
    row("disk, before roll-ups", f"{loaded['plain_bytes'] / samples:.2f} B/sample", "≤ 1.1 (raw alone)")
    row("disk, with everything", f"{size / samples:.2f} B/sample", "≤ 1.4")
    row("memory while writing", f"{loaded['resident_bytes'] / 1e6:.0f} MB", "≤ 600 MB")
    whole_day = hours == 24
    for name, title, budget in (
            ("series-1h", "flame graph, one pod, 1 h", ""),
            ("service-24h", f"flame graph, one service, {PODS} pods, {hours} h", "≤ 20 warm, ≤ 100 cold" if whole_day else ""),
            ("half-24h", f"flame graph, half of its pods, {hours} h", ""),
            ("totals-24h", f"totals by minute, one service, {hours} h", ""),
            ("overview-24h", f"first page: all services, {hours} h in 60 steps", ""),
            ("fleet-top50-24h", f"top 50 functions of all services, {hours} h", "≤ 400 warm" if whole_day else ""),
            ("values", "values of a label of one service", "≤ 1")):
        figures = ask(directory, name, services, intervals)
        row(title, in_ms(figures), budget)
    row("memory after the last of these, and after the top 50", f"{figures['resident_bytes'] / 1e6:.0f} MB, "
        f"{ask(directory, 'fleet-top50-24h', services, intervals)['resident_bytes'] / 1e6:.0f} MB", "≤ 600 MB")
    measure_start(directory, services, intervals, size)
    shutil.rmtree(directory)


def measure_start(directory, services, intervals, size):
    """Kills a writer and opens the store again."""
    with subprocess.Popen([PROGRAM, "hold", directory], stdout=subprocess.PIPE, text=True) as writer:
        writer.stdout.readline()  # it has written
        time.sleep(0.2 if QUICK else 3)
        writer.send_signal(signal.SIGKILL)
    figures = ask(directory, "values", services, intervals)
    row(f"start after kill -9 of a writer, {size / 1e9:.2f} GB of data, cold", f"{figures['open_ms'] / 1e3:.2f} s", "≤ 5 s (7 GB)")


def measure_labels(work):
    figures = phase("labels", work / "labels", 20_000 if QUICK else 1_000_000)
    row(f"label values at {figures['series']:,.0f} series: services; zones of one; pods of one; first 1,000 pods",
        f"{figures['services_ms']:.2f}; {figures['zones_ms']:.2f}; {figures['pods_of_service_ms']:.2f}; "
        f"{figures['first_pods_ms']:.2f} ms", "≤ 1 ms")
    row("start and memory with as many series", f"{figures['open_ms'] / 1e3:.2f} s, {figures['resident_bytes'] / 1e6:.0f} MB")
    shutil.rmtree(work / "labels")


def measure_retention(work, hours_kept, plot):
    """One service, kept longer and longer: what a profile and a question cost."""
    directory = work / "retention"
    points = []
    done = 0
    samples = 0
    for hours in hours_kept:
        note(f"loading up to {hours} h of one service")
        loaded = phase("load", directory, 1, PODS, done, hours * PER_HOUR - done, "maintain")
        done = hours * PER_HOUR
        samples += loaded["samples"]
        day = ask(directory, "service-24h", 1, done)
        whole = ask(directory, "service-all", 1, done)
        points.append({
            "hours": hours,
            "CPU per profile written": (loaded["cpu_s"] / loaded["profiles"] * 1e6, "µs"),
            "bytes per sample": (size_of(directory) / samples, "B"),
            "last 24 h, warm": (day["warm_ms"], "ms"),
            "last 24 h, cold": (day["cold_ms"], "ms"),
            "all that is kept, warm": (whole["warm_ms"], "ms"),
        })
        text = ", ".join(f"{name} {value[0]:.1f} {value[1]}" for name, value in points[-1].items() if name != "hours")
        budget = "30 days ≤ 100 ms" if hours == 720 else ""
        row(f"kept for {label_of(hours)}: {done * PODS / 1e6:.2f} M profiles of one service", text +
            f", all cold {whole['cold_ms']:.1f} ms", budget)
    plot.write_text(draw(points))
    row("cost against retention", f"[plot]({plot.relative_to(ROOT / 'bench') if plot.is_relative_to(ROOT / 'bench') else plot.name})")
    shutil.rmtree(directory)


def label_of(hours):
    return f"{hours // 24} d" if hours % 24 == 0 and hours > 24 else f"{hours} h"


def draw(points):
    """Each cost relative to that of the shortest retention, over hours on a logarithmic axis."""
    import math
    width, height, left, right, top, bottom = 760, 380, 60, 230, 40, 50
    colours = ("#1b6ca8", "#c1440e", "#2e7d32", "#6a1b9a", "#8d6e00")
    names = [name for name in points[0] if name != "hours"]
    relative = {name: [p[name][0] / max(points[0][name][0], 1e-9) for p in points] for name in names}
    highest = max(2.0, max(max(values) for values in relative.values()) * 1.1)
    low, high = math.log(points[0]["hours"]), math.log(points[-1]["hours"])

    def x_of(hours):
        return left + (math.log(hours) - low) / max(high - low, 1e-9) * (width - left - right)

    def y_of(value):
        return height - bottom - value / highest * (height - top - bottom)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<text x="{left}" y="22" font-size="14">Cost against retention, relative to {label_of(points[0]["hours"])}</text>']
    step = max(1, math.ceil(highest / 6))
    for tick in range(0, math.ceil(highest) + 1, step):
        if tick <= highest:
            out.append(f'<line x1="{left}" x2="{width - right}" y1="{y_of(tick):.1f}" y2="{y_of(tick):.1f}" stroke="#ddd"/>'
                       f'<text x="{left - 8}" y="{y_of(tick) + 4:.1f}" text-anchor="end">{tick} ×</text>')
    for point in points:
        out.append(f'<text x="{x_of(point["hours"]):.1f}" y="{height - bottom + 20}" text-anchor="middle">'
                   f'{label_of(point["hours"])}</text>')
    for at, (name, colour) in enumerate(zip(names, colours)):
        path = " ".join(f"{x_of(p['hours']):.1f},{y_of(v):.1f}" for p, v in zip(points, relative[name]))
        last, unit = points[-1][name]
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for p, value in zip(points, relative[name]):
            out.append(f'<circle cx="{x_of(p["hours"]):.1f}" cy="{y_of(value):.1f}" r="3" fill="{colour}"/>')
        y = top + 10 + at * 40
        out.append(f'<rect x="{width - right + 16}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
                   f'<text x="{width - right + 32}" y="{y}">{name}</text>'
                   f'<text x="{width - right + 32}" y="{y + 15}" fill="#666">{points[0][name][0]:.2f} to {last:.2f} {unit}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--services", type=int, default=2 if QUICK else 100)
    parser.add_argument("--hours", type=int, default=1 if QUICK else 24, help="of the whole fleet")
    parser.add_argument("--days", default="", help="retention to compare (default: 1,7,30; --quick: 1, 2 and 4 hours)")
    parser.add_argument("--directory", type=Path, help="where the data goes (default: a temporary one)")
    parser.add_argument("--plot", type=Path, help="the drawing (default: bench/store/retention.svg; --quick: none is kept)")
    args = parser.parse_args()
    hours_kept = [24 * int(days) for days in args.days.split(",")] if args.days else [1, 2, 4] if QUICK else [24, 168, 720]
    work = Path(tempfile.mkdtemp(prefix="vesta-store-bench-", dir=args.directory))
    plot = args.plot or (work / "retention.svg" if QUICK else ROOT / "bench/store/retention.svg")
    try:
        print("| what | measured | budget |\n|---|---|---|")
        measure_writes(work)
        measure_labels(work)
        measure_day(work, args.services, args.hours)
        measure_retention(work, hours_kept, plot)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
