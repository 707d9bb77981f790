#!/usr/bin/env python3
"""Views of other probes' samples: all the time of every thread; blocking input and output."""

import tempfile
from pathlib import Path

import harness
import pprof_proto
import support
from harness import RecordingTest, compile_program, vesta_record


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
            self.assertAlmostEqual(found / lived, 1, delta=0.02, msg=name)
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


if __name__ == "__main__":
    harness.main()
