#!/usr/bin/env python3
"""Views of other probes' samples: all the time of every thread; blocking input and output."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import harness
import pprof_proto
import support
from harness import RecordingTest, compile_program, running, vesta_record, wait_until

import agent


class View:
    """One type of a recording: rows of frames, labels, seconds and count."""

    def __init__(self, path, main, count):
        raw = pprof_proto.read(path)
        names = [name for name, _ in raw.types]
        self.types = names
        self.rows = []
        for sample in raw.samples:
            value = sample.values[names.index(main)]
            if value:
                frames = [frame[0] for location in sample.stack for frame in location]
                labels = {key: values[0] for key, values in sample.labels.items()}
                self.rows.append((frames, labels, value / 1e9, sample.values[names.index(count)]))

    def seconds(self, frame=None, **labels):
        wanted = {key.replace("_", "."): value for key, value in labels.items()}
        return sum(seconds for frames, have, seconds, _ in self.rows
                   if (frame is None or frame in frames) and all(have.get(key) == value for key, value in wanted.items()))

    def by(self, label, **labels):
        wanted = {key.replace("_", "."): value for key, value in labels.items()}
        sums = {}
        for _, have, seconds, _ in self.rows:
            if all(have.get(key) == value for key, value in wanted.items()):
                sums[have.get(label)] = sums.get(have.get(label), 0) + seconds
        return sums


class Wall(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kinds = compile_program(cls.folder, "waits/kinds.c", "-pthread")

    def test_every_thread_is_there_for_as_long_as_it_lived(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "wall.pb.gz"
            done = vesta_record("-e", "wall=999", "--per-thread", "-o", path, "--", self.kinds, "6",
                                self.folder / "synced")
            wall = View(path, "wall", "wall_samples")
        self.assertEqual(wall.types, ["wall_samples", "wall"], "only what was asked for")
        (pid,) = {labels["pid"] for frames, labels, *_ in wall.rows if "sleeping" in frames}
        for line in done.stdout.splitlines():
            name, *numbers = line.split()
            if name == "all" or numbers[0] == "-":
                continue
            lived = int(numbers[2]) / 1e9
            states = wall.by("state", pid=pid, thread_name=name)
            found = sum(states.values())
            print(f"{name}: {found:.3f} s, lived {lived:.3f} s ({found / lived - 1:+.2%}), {states}")
            # Its waits are exact; its CPU time is as many samples as there are, within three sigma.
            sigma = (states.get("running", 0) * 999) ** 0.5 / 999
            self.assertAlmostEqual(found, lived, delta=0.02 * lived + 3 * sigma, msg=name)
        self.assertGreater(wall.seconds("burning", state="running"), 0.5)
        self.assertGreater(wall.seconds("sleeping", state="sleep"), 3)
        for frames, labels, *_ in wall.rows:
            if not frames[0].startswith("[lost"):
                self.assertEqual(frames[0] == f"[{labels['state']}]", labels["state"] != "running", frames)

    def test_views_and_what_they_are_made_of_come_from_the_same_samples(self):
        path = self.folder / "all.pb.gz"
        done = vesta_record("-e", "wall,cpu,off-cpu", "-F", "199", "-o", path, "--", self.kinds, "1")
        wall, cpu = View(path, "wall", "wall_samples"), View(path, "cpu", "samples")
        off = View(path, "off_cpu", "waits")
        self.assertAlmostEqual(wall.seconds(), cpu.seconds() + off.seconds(), places=6)
        self.assertAlmostEqual(wall.seconds(state="running"), cpu.seconds(), places=6)
        self.assertIn("of Wall in", done.stderr)

    def test_top_says_how_much_it_was(self):
        path = self.folder / "sleep.pb.gz"
        vesta_record("-o", path, "-e", "wall", "--", "/bin/sleep", "1")
        top = support.vesta("top", path).stdout
        self.assertRegex(top.splitlines()[0], r"^Total Wall time: [1-9]\d*(\.\d+)?s$")
        self.assertIn("[sleep]", top)


class Block(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kinds = compile_program(cls.folder, "waits/kinds.c", "-pthread")

    def test_input_and_output_are_there_by_system_call(self):
        path = self.folder / "block.pb.gz"
        done = vesta_record("-e", "block,off-cpu", "--per-thread", "-o", path, "--", self.kinds, "4",
                            self.folder / "synced")
        block, off = View(path, "delay", "contentions"), View(path, "off_cpu", "waits")
        (pid,) = {labels["pid"] for frames, labels, *_ in off.rows if "sleeping" in frames}
        # Of what these threads wait, all but the run queue.
        for function, reason, call in (("reading_pipe", "pipe", "read"), ("receiving", "network", "recvfrom")):
            expected, found = off.seconds(function, pid=pid, wait=reason), block.seconds(function, pid=pid)
            print(f"{function}: {found:.3f} s, off-CPU {expected:.3f} s, {block.by('syscall', pid=pid)}")
            self.assertGreater(expected, 2)
            self.assertAlmostEqual(found, expected, places=6)
            self.assertEqual(set(block.by("syscall", pid=pid, thread_name=function)), {call})
        synced = block.by("syscall", pid=pid, thread_name="syncing")
        self.assertLessEqual(set(synced), {"fsync", "pwrite64"})
        for function in ("sleeping", "locking", "polling", "waiting_for_child", "faulting", "burning"):
            self.assertEqual(block.seconds(function, pid=pid), 0, function)
        self.assertIn("of blocking I/O in", done.stderr)


class Idle(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.idle = compile_program(cls.folder, "waits/idle.c", "-pthread")

    def record(self, *arguments):
        path = self.folder / "idle.pb.gz"
        vesta_record("-e", "off-cpu,wall", "-o", path, *arguments, "--", self.idle, "4")
        return View(path, "off_cpu", "waits"), View(path, "wall", "wall_samples")

    def test_parked_workers_are_folded_and_contended_locks_are_not(self):
        for view in self.record():
            for function, threads in (("parked_worker", 4), ("event_loop", 1)):
                rows = [(frames, seconds) for frames, _, seconds, _ in view.rows if function in frames]
                idle = sum(seconds for frames, seconds in rows if frames[-1] == "[idle]")
                self.assertAlmostEqual(idle, 4 * threads, delta=0.1 * 4 * threads, msg=function)
                self.assertGreater(idle / sum(seconds for _, seconds in rows), 0.95, function)
            self.assertGreater(view.seconds("use_lock"), 12)
            self.assertFalse([frames for frames, *_ in view.rows if "use_lock" in frames and "[idle]" in frames])

    def test_folding_changes_no_total_and_can_be_left_out(self):
        off, wall = self.record("--keep-idle")
        for view in off, wall:
            self.assertFalse([frames for frames, *_ in view.rows if "[idle]" in frames])
            self.assertAlmostEqual(view.seconds("parked_worker"), 16, delta=1.6)


class ManyThreads(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.many = compile_program(cls.folder, "waits/many.c", "-pthread")

    def test_ten_thousand_threads_are_all_there(self):
        path = self.folder / "many.pb.gz"
        with running(self.many, "10000", "600", stdout=subprocess.PIPE, text=True) as victim:
            ready = victim.stdout.readline().strip()
            if ready != "ready":
                self.skipTest(f"10000 threads are not possible here: {ready}")
            done = vesta_record("-e", "wall,off-cpu", "-p", victim.pid, "-d", "3s", "-o", path)
        duration = float(re.search(r"for ([\d.]+)s: ", done.stderr)[1])
        for view in View(path, "wall", "wall_samples"), View(path, "off_cpu", "waits"):
            found = view.seconds("sleeps")
            print(f"{found:.0f} s of 10000 threads in {duration} s")
            # It is cut at both ends by another thread than the one that measures the duration.
            self.assertAlmostEqual(found / (10000 * duration), 1, delta=0.1)
        self.assertEqual(harness.Summary.parse(done.stderr).lost, 0, done.stderr)

    def test_threads_that_end_while_they_wait_lose_nothing(self):
        path = self.folder / "ended.pb.gz"
        vesta_record("-e", "off-cpu", "-o", path, "--", self.many, "200", "1")
        # All were there for a second at least, and none came back from its wait.
        found = View(path, "off_cpu", "waits").seconds("sleeps")
        print(f"{found:.1f} s of 200 threads that never woke up")
        self.assertGreater(found, 0.98 * 200)


class Windows(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kinds = compile_program(cls.folder, "waits/kinds.c", "-pthread")

    def test_the_agent_makes_the_views_that_it_is_asked_for_alone(self):
        agent.need_sampling()
        folder, config = self.folder / "windows", self.folder / "agent.yaml"
        with running(self.kinds, "600") as victim:
            harness.wait_for_cpu(victim)
            threads = len(os.listdir(f"/proc/{victim.pid}/task"))
            config.write_text(f"agent: {{profiling: {{cpu: false, wall: true, block: true, duration: 2s, "
                              f"upload_interval: 1s}}, targets: {{include: [{{pid: {victim.pid}}}]}}, "
                              f"exporters: [{{type: files, directory: {folder}}}]}}\n")
            with agent.Agent("--config", config) as started:
                def windows(family):
                    # The first is not of full length; the last one may still be written.
                    return sorted(folder.glob(f"kinds_{victim.pid}_*_{family}.pb.gz"))[2:-1]
                wait_until(lambda: len(windows("wall")) >= 2 and len(windows("block")) >= 2, "there are windows", 120)
                self.assertEqual(started.stop(), 0)
            for path in windows("wall"):
                raw = pprof_proto.read(path)
                seconds = View(path, "wall", "wall_samples").seconds()
                print(f"{seconds:.2f} s of {threads} threads in {raw.duration_ns / 1e9} s")
                self.assertAlmostEqual(seconds / (threads * raw.duration_ns / 1e9), 1, delta=0.05, msg=path)
            for path in windows("block"):
                self.assertLessEqual({"read", "recvfrom"}, set(View(path, "delay", "contentions").by("syscall")))
        self.assertFalse([path for path in folder.iterdir() if "process_cpu" in path.name or "off_cpu" in path.name])


if __name__ == "__main__":
    harness.main()
