#!/usr/bin/env python3
"""What vesta reads from JFR files is what the program measured, what the JDK's own `jfr` prints, and what
async-profiler's converter makes of the same file."""

import json
import re
import subprocess
import unittest

import harness
from harness import profile, top, truth

JDK, ASYNC = "java-jdk.jfr", "java-async.jfr"
# What the makers ask of the recorders.
JDK_PERIOD_NS, ASYNC_PERIOD_NS, ASYNC_WALL_PERIOD_NS = 10_000_000, 5_000_000, 20_000_000


def plain(name):
    """Method names with dots, without parameters and without the addresses and numbers that hidden
    classes and lambdas get anew in each run, however a tool writes them."""
    name = re.sub(r"\(.*$", "", name).replace("/", ".")
    name = re.sub(r"\$\$Lambda.*\.(?=[^.]+$)", "$$Lambda.", name)
    return re.sub(r"[.+]0x[0-9a-f]+(?=\.|$)", "", name)


def plain_rows(report):
    """{method: (flat, cum)}; overloads of a method are one."""
    rows = {}
    for row in report["rows"]:
        flat, cum = rows.get(plain(row["name"]), (0, 0))
        rows[plain(row["name"])] = (flat + row["flat"], cum + row["cum"])
    return rows


def count(stacks):
    """{method: (flat, cum)} of (stack with leaf first, weight) pairs."""
    flat, cum = {}, {}
    for stack, weight in stacks:
        if stack:
            flat[stack[0]] = flat.get(stack[0], 0) + weight
        for name in set(stack):
            cum[name] = cum.get(name, 0) + weight
    return {name: (flat.get(name, 0), value) for name, value in cum.items()}


def collapsed(name, drop_class=False):
    """Stacks of a file of async-profiler's converter, leaf first, without its _[j] remarks on the kind
    of frame; for allocations and locks the leaf is a class rather than a method."""
    for line in profile(name).read_text().splitlines():
        stack, weight = line.rsplit(" ", 1)
        frames = [plain(re.sub(r"_\[.\]$", "", frame)) for frame in reversed(stack.split(";"))]
        yield frames[1:] if drop_class else frames, int(weight)


def seconds_to_ns(text):
    """Durations such as PT0.020294985S, as `jfr print` has them."""
    whole, _, fraction = re.fullmatch(r"PT(?:(\d+)M)?([\d.]+)S", text)[2].partition(".")
    return int(whole) * 10**9 + int(fraction.ljust(9, "0"))


def jfr_events(path, *types):
    jfr = harness.support.need_command("jfr")
    text = subprocess.run([jfr, "print", "--json", "--stack-depth", "2048", "--events", ",".join(types), path],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        frames = (values.get("stackTrace") or {}).get("frames", [])
        stack = [plain(f"{frame['method']['type']['name']}.{frame['method']['name']}") for frame in frames]
        yield event["type"], stack, values


class JfrCase(unittest.TestCase):
    maxDiff = 4000

    def check_truth(self, name):
        path = profile(name)
        for kind, expected in truth(name)["types"].items():
            with self.subTest(type=kind):
                report = top(path, "--type", kind)
                self.assertEqual(report["unit"], expected["unit"])
                harness.check_truth(self, report, expected)

    def check_same(self, report, stacks, scale=1):
        """All methods, all values: reading a file is not a matter of tolerance."""
        expected = {name: (flat * scale, cum * scale) for name, (flat, cum) in count(stacks).items()}
        found = plain_rows(report)
        self.assertEqual({name: found.get(name) for name in expected}, expected)
        self.assertEqual(report["total"], sum(weight for _, weight in stacks) * scale)


class Jdk(JfrCase):
    """The JDK's Flight Recorder."""

    def test_truth(self):
        self.check_truth(JDK)

    def test_cpu_as_the_jdk_prints_it(self):
        path = profile(JDK)
        stacks = [(stack, 1) for _, stack, _ in jfr_events(path, "jdk.ExecutionSample")]
        self.assertGreater(len(stacks), 50)
        self.check_same(top(path, "--type", "cpu"), stacks, scale=JDK_PERIOD_NS)
        self.check_same(top(path, "--type", "process_cpu:samples"), stacks)

    def test_waits_as_the_jdk_prints_them(self):
        path = profile(JDK)
        for family, count, wanted in (("mutex", "contentions", "jdk.JavaMonitorEnter"),
                                      ("block", "contentions", "jdk.ThreadPark"),
                                      ("thread_sleep", "waits", "jdk.ThreadSleep"),
                                      ("monitor_wait", "waits", "jdk.JavaMonitorWait")):
            events = [(stack, values) for _, stack, values in jfr_events(path, wanted)]
            with self.subTest(family=family):
                self.check_same(top(path, "--type", f"{family}:delay"),
                                [(stack, seconds_to_ns(values["duration"])) for stack, values in events])
                self.check_same(top(path, "--type", f"{family}:{count}"),
                                [(stack, 1) for stack, _ in events])

    def test_allocations_as_the_jdk_prints_them(self):
        path = profile(JDK)
        for sample_type, event, weight in (
                ("alloc_in_new_tlab_bytes", "jdk.ObjectAllocationInNewTLAB", "tlabSize"),
                ("alloc_outside_tlab_bytes", "jdk.ObjectAllocationOutsideTLAB", "allocationSize"),
                ("alloc_sample_bytes", "jdk.ObjectAllocationSample", "weight")):
            with self.subTest(event=event):
                stacks = [(stack, values[weight]) for _, stack, values in jfr_events(path, event)]
                self.assertTrue(stacks)
                self.check_same(top(path, "--type", sample_type), stacks)


class AsyncProfiler(JfrCase):
    """async-profiler, and its converter's reading of the same file."""

    def test_truth(self):
        self.check_truth(ASYNC)

    def test_cpu_as_the_converter_has_it(self):
        path = profile(ASYNC)
        self.check_same(top(path, "--type", "cpu"), list(collapsed("java-async-cpu.collapsed")),
                        scale=ASYNC_PERIOD_NS)

    def test_wall_as_the_converter_has_it(self):
        path = profile(ASYNC)
        self.check_same(top(path, "--type", "wall"), list(collapsed("java-async-wall.collapsed")),
                        scale=ASYNC_WALL_PERIOD_NS)

    def test_allocations_as_the_converter_has_them(self):
        path = profile(ASYNC)
        self.check_same(top(path, "--type", "alloc_in_new_tlab_bytes"),
                        list(collapsed("java-async-alloc.collapsed", drop_class=True)))

    def test_locks_as_the_converter_has_them(self):
        path = profile(ASYNC)
        self.check_same(top(path, "--type", "mutex:delay"),
                        list(collapsed("java-async-lock.collapsed", drop_class=True)))

    def test_pprof_of_the_converter(self):
        """The pprof file counts samples; the same reader as for all pprof files must agree with our JFR reader."""
        theirs = plain_rows(top(profile("java-async.pb.gz"), "--type", "cpu"))
        ours = plain_rows(top(profile(ASYNC), "--type", "cpu"))
        burners = [name for name in theirs if name.startswith("Burn.")]
        self.assertIn("Burn.heavy", burners)
        for name in burners:
            self.assertEqual(ours[name], tuple(value * ASYNC_PERIOD_NS for value in theirs[name]), name)


if __name__ == "__main__":
    harness.main()
