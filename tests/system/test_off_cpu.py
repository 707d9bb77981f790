#!/usr/bin/env python3
"""Waiting time is neither made nor lost: threads that wait for known things, for as long as they say themselves."""

import os
import re
import signal
import tempfile
from pathlib import Path

import harness
import pprof_proto
import support
from harness import RecordingTest, compile_program, running, vesta_record, wait_until

import agent

# What the function of a thread of waits/kinds.c waits for.
REASONS = {"sleeping": {"sleep"}, "reading_pipe": {"pipe"}, "locking": {"lock"}, "receiving": {"network"},
           "polling": {"poll"}, "waiting_for_child": {"child"}, "syncing": {"disk", "kernel lock"},
           "faulting": {"page fault"}}
# Many short waits, with a third of the time in the run queue: 2.2 % too much was seen on a busy machine, why is not known.
TOLERANCES = {"syncing": 0.05}
LEAST = 0.3  # seconds: a wait of less is not judged, because theta is a part of it


class Waits:
    """The off-CPU part of a recording."""

    def __init__(self, path):
        raw = pprof_proto.read(path)
        names = [name for name, _ in raw.types]
        self.types, self.period = raw.types, raw.period
        ns, count = names.index("off_cpu"), names.index("waits")
        self.rows = []
        for sample in raw.samples:
            if not sample.values[ns]:
                continue
            frames = [frame[0] for location in sample.stack for frame in location]
            labels = {key: values[0] for key, values in sample.labels.items()}
            self.rows.append((frames, labels, sample.values[ns] / 1e9, sample.values[count]))
        self.cpu = sum(sample.values[names.index("cpu")] for sample in raw.samples) / 1e9 if "cpu" in names else None

    def seconds(self, frame=None, **labels):
        """Of stacks with that frame and samples with those labels; "_" stands for ".". """
        wanted = {key.replace("_", "."): value for key, value in labels.items()}
        return sum(seconds for frames, have, seconds, _ in self.rows
                   if (frame is None or frame in frames) and all(have.get(key) == value for key, value in wanted.items()))

    def reasons(self, frame, **labels):
        wanted = {key.replace("_", "."): value for key, value in labels.items()}
        sums = {}
        for frames, have, seconds, _ in self.rows:
            if frame in frames and all(have.get(key) == value for key, value in wanted.items()):
                sums[have["wait"]] = sums.get(have["wait"], 0) + seconds
        return sums


def record(*arguments, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.pb.gz"
        done = vesta_record("-o", path, "--per-thread", *arguments, **options)
        return Waits(path), done


class OffCpu(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kinds = compile_program(cls.folder, "waits/kinds.c", "-pthread")
        cls.pingpong = compile_program(cls.folder, "waits/pingpong.c", "-pthread")
        cls.forks = compile_program(cls.folder, "waits/forks.c")
        cls.locks = compile_program(cls.folder, "waits/locks.c", "-pthread")

    def test_every_kind_of_wait_is_as_long_as_the_program_says(self):
        waits, done = record("-e", "cpu,off-cpu", "-F", "499", "--", self.kinds, "6", self.folder / "synced")
        truth = {}
        for line in done.stdout.splitlines():
            name, *numbers = line.split()
            truth["waiting_for_child" if name.startswith("waiting_for") else name] = numbers
        wall, used, _ = (int(number) / 1e9 for number in truth.pop("all"))
        del truth["burning"]  # how long it was kept from running, it cannot tell well
        (pid,) = {labels["pid"] for frames, labels, *_ in waits.rows if "sleeping" in frames}
        for function, (seconds, *_) in truth.items():
            if seconds == "-":
                print(f"{function}: not possible here")
                continue
            expected, found = int(seconds) / 1e9, waits.seconds(function, pid=pid)
            by_reason = waits.reasons(function, pid=pid)
            print(f"{function}: {found:.3f} s, expected {expected:.3f} s ({found / expected - 1:+.2%}), {by_reason}")
            if expected < LEAST:
                continue
            self.assertAlmostEqual(found / expected, 1, delta=TOLERANCES.get(function, 0.02), msg=function)
            wrong = sum(value for reason, value in by_reason.items()
                        if reason not in REASONS[function] | {"run queue", "kernel lock"})
            self.assertLessEqual(wrong, 0.02 * expected, f"{function}: {by_reason}")
            self.assertGreater(sum(by_reason.get(reason, 0) for reason in REASONS[function]), 0, by_reason)
        off = waits.seconds(pid=pid)
        print(f"on {used:.3f} s + off {off:.3f} s = {(used + off) / wall:.4f} of {wall:.3f} s")
        self.assertAlmostEqual((used + off) / wall, 1, delta=0.02)
        # The reason is also the innermost frame.
        for frames, labels, *_ in waits.rows:
            if not frames[0].startswith("[lost"):
                self.assertEqual(frames[0], f"[{labels['wait']}]")
        self.assertIn("Off-CPU", done.stderr)

    def test_locks_are_told_from_other_things_that_threads_wait_for_in_futex(self):
        waits, done = record("-e", "off-cpu", "--", self.locks, "3")
        for line in done.stdout.splitlines():
            function, expected = line.split()[0], int(line.split()[1]) / 1e9
            by_reason = waits.reasons(function)
            print(f"{function}: {sum(by_reason.values()):.3f} s, expected {expected:.3f} s, {by_reason}")
            self.assertAlmostEqual(sum(by_reason.values()) / expected, 1, delta=0.02, msg=function)
            is_event = function in ("waiting_condition", "waiting_semaphore", "waiting_parked", "waiting_join")
            right, wrong = ("condition", "lock") if is_event else ("lock", "condition")
            self.assertGreater(by_reason.get(right, 0), 0.7 * expected, f"{function}: {by_reason}")
            # Whoever waits for a condition takes its mutex, too.
            self.assertLess(by_reason.get(wrong, 0), 0.02 * expected, f"{function}: {by_reason}")

    def test_a_thread_that_sleeps_all_the_time_is_there_all_the_time(self):
        with running("/bin/sleep", "600") as sleeper:
            waits, done = record("-e", "off-cpu", "-p", sleeper.pid, "-d", "2500ms")
        duration = float(re.search(r"for ([\d.]+)s: ", done.stderr)[1])
        # It is cut at the end by another thread than the one that measures the duration.
        self.assertAlmostEqual(waits.seconds(pid=sleeper.pid), duration, delta=0.1 * duration)
        self.assertEqual(set(waits.reasons("[sleep]")), {"sleep"})
        # Its stack was read from outside: libc and the program are in it.
        self.assertTrue(any("main" in frames or len(frames) > 8 for frames, *_ in waits.rows), waits.rows)

    def test_a_stopped_program_waits_for_whoever_stopped_it(self):
        with running(self.kinds, "600") as victim:
            harness.wait_for_cpu(victim)
            os.kill(victim.pid, signal.SIGSTOP)
            wait_until(lambda: "T (stopped)" in Path(f"/proc/{victim.pid}/status").read_text(), "it stops")
            threads = len(os.listdir(f"/proc/{victim.pid}/task"))
            waits, done = record("-e", "off-cpu", "-p", victim.pid, "-d", "2s")
        duration = float(re.search(r"for ([\d.]+)s: ", done.stderr)[1])
        stopped = sum(seconds for _, labels, seconds, _ in waits.rows if labels["wait"] == "stopped")
        self.assertAlmostEqual(stopped, threads * duration, delta=0.02 * threads * duration)

    def test_a_hundred_thousand_switches_a_second_change_no_total(self):
        waits, done = record("-e", "off-cpu", "--", self.pingpong, "3")
        switches, wall, used = (float(word) for word in done.stdout.split())
        print(f"{switches / wall:,.0f} switches a second, {done.stderr.splitlines()[1]}")
        (pid,) = {labels["pid"] for frames, labels, *_ in waits.rows if "ping" in frames}
        # Two threads that play, and one that waits for them. What comes before main and after it, nobody measures.
        for frames, labels, seconds, _ in waits.rows:
            if not {"main", "ping", "pong"} & set(frames):
                print(f"{seconds:.4f} s in {frames[-1]} … {frames[0]} of {labels['process']}")
        self.assertNotIn("vesta", {labels["process"] for _, labels, *_ in waits.rows})
        self.assertAlmostEqual((waits.seconds(pid=pid) + used) / (3 * wall), 1, delta=0.02)
        self.assertEqual(harness.Summary.parse(done.stderr).lost, 0, done.stderr)
        # The budget: a thousand stacks a second, which the first seconds may exceed.
        self.assertLess(harness.Summary.parse(done.stderr).samples, 4000 * max(wall, 3), done.stderr)

    def test_processes_that_come_and_go_leave_no_gap(self):
        waits, done = record("-e", "off-cpu", "--", self.forks, "300")
        # Each child sleeps 2 ms and tells how long it was off a CPU.
        expected, children = (float(word) for word in done.stdout.split())
        found = waits.seconds("child_sleeps")
        print(f"{children:.0f} children: {found:.3f} s, expected {expected:.3f} s")
        self.assertAlmostEqual(found / expected, 1, delta=0.1)

    def test_threads_that_end_while_others_wait_for_them(self):
        waits, done = record("-e", "off-cpu", "--", self.kinds, "0.3")
        wall, used, _ = (int(number) / 1e9 for number in done.stdout.splitlines()[-1].split()[1:])
        (pid,) = {labels["pid"] for frames, labels, *_ in waits.rows if "sleeping" in frames}
        self.assertAlmostEqual((used + waits.seconds(pid=pid)) / wall, 1, delta=0.05)

    def test_short_waits_can_be_left_out(self):
        waits, _ = record("-e", "off-cpu", "--min-wait", "100ms", "--", "/bin/sleep", "0.2")
        self.assertGreater(waits.seconds("[sleep]"), 0.19)
        done = vesta_record("-e", "off-cpu", "--min-wait", "1h", "-o", self.folder / "none.pb.gz", "--", "/bin/sleep", "0.2",
                            check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("did not wait during the recording", done.stderr)

    def test_threads_of_the_kernel_are_there_when_asked_for(self):
        # Something for them to do.
        with running(self.kinds, "600", self.folder / "written"):
            without, _ = record("-e", "off-cpu", "-a", "-d", "1s")
            waits, _ = record("-e", "off-cpu", "--kernel-threads", "-a", "-d", "2s")
        self.assertIn("kthreadd", {labels["process"] for _, labels, *_ in waits.rows})
        self.assertNotIn("kthreadd", {labels["process"] for _, labels, *_ in without.rows})

    def test_a_long_wait_is_in_every_window_of_the_agent(self):
        agent.need_sampling()
        folder = self.folder / "windows"
        config = self.folder / "agent.yaml"
        with running("/bin/sleep", "600") as sleeper:
            # Alone, so that nothing else has to be named.
            config.write_text(f"agent: {{profiling: {{off_cpu: true, duration: 2s, upload_interval: 1s}}, "
                              f"targets: {{include: [{{pid: {sleeper.pid}}}]}}, "
                              f"exporters: [{{type: files, directory: {folder}}}]}}\n")
            self.check_windows(folder, sleeper, config)

    def check_windows(self, folder, sleeper, config):
        with agent.Agent("--config", config) as started:
            def windows():
                # The first is not of full length; the last one may still be written.
                return sorted(folder.glob(f"sleep_{sleeper.pid}_*_off_cpu.pb.gz"))[2:-1]
            wait_until(lambda: len(windows()) >= 3, "it is in several windows", 120)
            for path in windows():
                raw = pprof_proto.read(path)
                self.assertAlmostEqual(raw.duration_ns / 1e9, 2, delta=0.01, msg=path)
                seconds = raw.total([name for name, _ in raw.types].index("off_cpu")) / 1e9
                self.assertAlmostEqual(seconds, 2, delta=0.05, msg=path)
            self.assertEqual(started.metric("vesta_agent_troubles_total",
                                            reason="sample arrived after its window was sent"), 0)
            exact = started.metric("vesta_agent_off_cpu_seconds_total")
            self.assertGreater(exact, 6)
            self.assertEqual(started.stop(), 0)

    def test_flags_for_waits_need_waits(self):
        done = vesta_record("--min-wait", "1ms", "-a", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--min-wait applies to none of the chosen events", done.stderr)

    def test_top_says_how_much_it_was(self):
        path = self.folder / "sleep.pb.gz"
        vesta_record("-o", path, "-e", "off-cpu", "--", "/bin/sleep", "1")
        top = support.vesta("top", path).stdout
        self.assertRegex(top.splitlines()[0], r"^Total Off-CPU time: [1-9]\d*(\.\d+)?s$")
        self.assertIn("[sleep]", top)
        self.assertNotIn("Samples:", top)  # waits differ in length: their number says little


if __name__ == "__main__":
    harness.main()
