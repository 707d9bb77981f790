#!/usr/bin/env python3
"""What the always-on agent costs on a host with many different busy programs, and what a process start costs it.

Usage: scripts/bench [--quick] mixed-host
       bench/agent/mixed_host_bench.py [--seconds N] [--warm-up N] [--execs N] [--exporter otlp|files] [--profile FILE]

Runs a mix of runtimes, compilers, databases and small tools (bench/agent/programs.py), those that are installed, and an agent
that sends its profiles to a server on the same host, or writes them to files. Then ends the mix and starts ten programs in turn, a hundred a second. Prints rows of a
Markdown table. CPU is CPU time, so a busy machine disturbs little, but more load means more code that is new to the agent.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import programs  # noqa: E402  (makes the tests' modules known, too)

import agent  # noqa: E402
import server  # noqa: E402

QUICK = os.environ.get("VESTA_BENCH_QUICK") == "1"
TICKS = os.sysconf("SC_CLK_TCK")
CONFIG = """
agent:
  profiling: {{duration: 10s, upload_interval: 10s}}
  limits: {{cpu: 100%}}   # the rate stays: what 99 Hz costs is the question
  exporters:
    - {exporter}
"""
SHORT = ["true", "ls /", "cat /dev/null", "date", "id", "uname -a", "expr 1 + 1", "basename /a/b", "dirname /a/b", "env"]
LATE = 'vesta_agent_troubles_total{reason="stack sent as addresses: symbolization took too long"}'


def row(what, measured, budget=""):
    print(f"| {what} | {measured} | {budget} |", flush=True)


class Watch:
    """An agent's figures between two moments."""

    def __init__(self, profiler):
        self.profiler = profiler
        self.pid = profiler.process.pid
        self.begin()

    def begin(self):
        self.before, self.threads_before, self.began = self.profiler.metrics(), self.threads(), time.monotonic()
        self.load_before, self.starts_before = busy_seconds(), starts()

    def end(self):
        self.after, self.threads_after, self.seconds = self.profiler.metrics(), self.threads(), time.monotonic() - self.began
        self.busy, self.starts = busy_seconds() - self.load_before, starts() - self.starts_before

    def threads(self):
        """CPU seconds by name of thread, to the nanosecond."""
        spent = Counter()
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                spent[(task / "comm").read_text().strip()] += int((task / "schedstat").read_text().split()[0]) / 1e9
        return spent

    def grown(self, name):
        return self.after.get(name, 0) - self.before.get(name, 0)

    def grown_sum(self, prefix):
        return sum(self.after[name] - self.before.get(name, 0) for name in self.after if name.startswith(prefix))

    def own(self):
        return sum(self.threads_after.values()) - sum(self.threads_before.values())

    def by_thread(self):
        spent = {name: value - self.threads_before.get(name, 0) for name, value in self.threads_after.items()}
        return ", ".join(f"{name} {value / self.seconds * 100:.2f} %" for name, value in
                         sorted(spent.items(), key=lambda item: -item[1]) if value / self.seconds > 0.0005)


def busy_seconds():
    """CPU time of the whole host, and of how many cores."""
    fields = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / TICKS


def starts():
    """Of processes and threads of the whole host, since it was booted."""
    return next(int(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("processes "))


def memory_of(pid, what):
    """Not from the agent's own /metrics: to ask for them every second would be a part of what is measured."""
    return next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                if line.startswith(what + ":"))


@contextlib.contextmanager
def profile_of(pid, file):
    """Samples the agent itself with perf, for `perf report -i FILE`."""
    if file is None:
        yield
        return
    command = ["perf", "record", "-q", "-F", "1999", "-g", "-p", str(pid), "-o", file]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as perf:
        try:
            yield
        finally:
            perf.send_signal(signal.SIGINT)


def watch_mix(profiler, work, args):
    with programs.Mix(work) as mix:
        time.sleep(args.warm_up)
        watch = Watch(profiler)
        memory = []
        with profile_of(watch.pid, args.profile):
            while time.monotonic() - watch.began < args.seconds:
                time.sleep(1)
                memory.append(memory_of(watch.pid, "VmRSS"))
            watch.end()
        samples, late = watch.grown("vesta_agent_samples_total"), watch.grown(LATE)
        lost = watch.grown_sum("vesta_agent_samples_lost_total")
        row("the mix", f"{len(mix.names)} programs on {os.cpu_count()} CPUs, {watch.seconds:.0f} s after {args.warm_up} s of warm-up")
        row("programs", ", ".join(mix.names))
        if mix.left_out:
            row("left out, because they are not installed", ", ".join(mix.left_out))
        row("load average, CPUs busy", f"{os.getloadavg()[0]:.0f}, {watch.busy / watch.seconds:.2f} of {os.cpu_count()}")
        row("samples", f"{samples / watch.seconds:.0f} a second at {watch.after['vesta_agent_sample_rate']:.0f} Hz, {lost:.0f} lost")
        row("processes and threads started", f"{watch.starts / watch.seconds:.0f} a second")
        row("CPU of the agent's threads", f"{watch.own() / watch.seconds * 100:.2f} % of a core", "≤ 1 %")
        row("… by thread", watch.by_thread())
        row("CPU of its programs in the kernel", f"{watch.grown('vesta_agent_bpf_seconds_total') / watch.seconds * 100:.2f} % of a core")
        row("memory, highest", f"{max(memory) / 1e6:.0f} MB ({memory_of(watch.pid, 'VmHWM') / 1e6:.0f} MB since its start)", "≤ 120 MB")
        row("symbol tables opened", f"{watch.grown('vesta_agent_symbol_table_opens_total'):.0f} while measuring, "
            f"{watch.after.get('vesta_agent_symbol_table_opens_total', 0):.0f} since the start, "
            f"{watch.after.get('vesta_agent_symbol_tables', 0):.0f} open with {watch.after.get('vesta_agent_symbol_table_bytes', 0) / 1e6:.1f} MB")
        row("samples named in time", f"{(samples - lost - late) / max(samples, 1) * 100:.2f} %", "≥ 99.6 %")
        row("profiles sent", f"{watch.grown_sum('vesta_agent_exporter_sent_total') / watch.seconds:.1f} a second")
        return watch.own(), samples, watch.starts


def start_programs(execs, seconds, rate=100):
    """Starts them at that rate; how many there were."""
    commands = [shutil.which(words.split()[0]) and words.split() for words in SHORT]
    commands = [[shutil.which(words[0]), *words[1:]] for words in commands if words]
    began = time.monotonic()
    for count in range(execs):
        command = commands[count % len(commands)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        os.waitpid(pid, 0)
        ahead = began + (count + 1) / rate - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
        elif time.monotonic() - began > 3 * seconds:
            return count + 1
    return execs


def watch_execs(profiler, args):
    time.sleep(12 if not QUICK else 2)  # what is left of the mix is named, and the last window is sent
    watch = Watch(profiler)
    start_programs(args.execs // 5, args.execs / 500)  # their first start is another matter
    watch.begin()
    count = start_programs(args.execs, args.execs / 100)
    watch.end()
    with_execs, by_thread, seconds, busy = watch.own(), watch.by_thread(), watch.seconds, watch.busy
    watch.begin()
    time.sleep(seconds)
    watch.end()
    row("process starts", f"{count} of ten programs, {count / seconds:.0f} a second; {busy / seconds:.2f} CPUs busy, {watch.busy / watch.seconds:.2f} without")
    each = (with_execs - watch.own()) / count
    row("CPU of the agent's threads for a process start", f"{each * 1e6:.0f} µs", "≤ 100 µs")
    row("… with all else it does", f"{with_execs / count * 1e6:.0f} µs: {by_thread}")
    return each


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=12 if QUICK else 120)
    parser.add_argument("--warm-up", type=int, default=8 if QUICK else 60)
    parser.add_argument("--execs", type=int, default=200 if QUICK else 3000)
    parser.add_argument("--exporter", choices=["otlp", "files"], default="otlp")
    parser.add_argument("--profile", metavar="FILE", help="samples the agent with perf while the mix is measured, which costs it a bit")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="vesta-mixed-host-"))
    try:
        with contextlib.ExitStack() as stack:
            if args.exporter == "files":
                exporter, where = f'{{type: files, name: files, directory: "{work / "profiles"}"}}', "files, one for each process and window"
            else:
                receiver = stack.enter_context(server.Server(data=work / "store"))
                exporter, where = f'{{type: otlp, name: server, endpoint: "{receiver.grpc}"}}', "OTLP over gRPC to a server on the same host"
            config = work / "vesta.yaml"
            config.write_text(CONFIG.format(exporter=exporter))
            print("| what | measured | budget |\n|---|---|---|", flush=True)
            row("profiles go to", where)
            profiler = stack.enter_context(agent.Agent("--config", config, state=work / "state"))
            own, samples, started = watch_mix(profiler, work, args)
            each = watch_execs(profiler, args)
            row("CPU of the agent's threads for a sample of the mix", f"{own / samples * 1e6:.0f} µs, of which process starts "
                f"{started * each / samples * 1e6:.0f} µs if each costs what it does alone")
            began = time.monotonic()
            profiler.stop(signal.SIGTERM)
            row("time to stop", f"{time.monotonic() - began:.1f} s", "≤ 10 s")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
