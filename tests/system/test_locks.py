#!/usr/bin/env python3
"""Who made a thread wait: contention of locks by who waits and by who released them, and wakers of other waits."""

import tempfile
from pathlib import Path

import harness
import pprof_proto
from harness import RecordingTest, compile_program, vesta_record


class Samples:
    """A recording: rows of frames, labels, and values by type."""

    def __init__(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "out.pb.gz"
            self.done = vesta_record("-o", path, "--per-thread", *arguments)
            raw = pprof_proto.read(path)
        self.types = [name for name, _ in raw.types]
        self.rows = []
        for sample in raw.samples:
            frames = [frame[0] for location in sample.stack for frame in location]
            labels = {key: values[0] for key, values in sample.labels.items()}
            self.rows.append((frames, labels, dict(zip(self.types, sample.values))))

    def of(self, column):
        """Rows that have something in that column."""
        return [(frames, labels, values[column]) for frames, labels, values in self.rows if values[column]]

    def total(self, column):
        return sum(value for *_, value in self.of(column))


class Locks(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.contend = compile_program(cls.folder, "waits/contend.c", "-pthread")
        cls.kinds = compile_program(cls.folder, "waits/kinds.c", "-pthread")

    def check_contention(self, threads, *arguments):
        samples = Samples("-e", "off-cpu,mutex,mutex-holder", "--", self.contend, threads, "3", *arguments)
        truth = {}
        for line in samples.done.stdout.splitlines():
            function, delay, waits = line.split()
            truth[function] = (int(delay) / 1e9, int(waits))
        expected = sum(delay for delay, _ in truth.values())
        delay = samples.total("delay") / 1e9
        waits, expected_waits = samples.total("contentions"), sum(waits for _, waits in truth.values())
        print(f"{threads} threads: {delay:.3f} s in {waits} contentions, expected {expected:.3f} s in {expected_waits}")
        # What a thread calls its delay may have time in a run queue in it: after it looked at the clock, before it
        # sleeps, and where another one took the mutex before the thread that was woken for it could run.
        ready = sum(value for frames, labels, value in samples.of("off_cpu")
                    if labels["wait"] == "run queue" and "run" in frames) / 1e9
        self.assertLessEqual(delay, 1.02 * expected)
        self.assertGreaterEqual(delay + ready, 0.98 * expected)
        self.assertGreaterEqual(waits, 0.95 * expected_waits)
        if "plain" not in arguments:  # the kernel hands it over: a wait is one wait
            self.assertLessEqual(waits, 1.05 * expected_waits)
        # All waits are in the function that asks for the lock, with the reason "lock", as the off-CPU profile has them.
        for frames, labels, _ in samples.of("delay"):
            self.assertIn("contend", frames)
            self.assertEqual((frames[0], labels["wait"]), ("[lock]", "lock"))
        locks = sum(value for _, labels, value in samples.of("off_cpu") if labels["wait"] == "lock")
        self.assertEqual(samples.total("delay"), locks)
        # By who released it: the same time, by other stacks.
        self.assertEqual(samples.total("holder_delay"), locks)
        self.assertEqual(samples.total("holder_contentions"), waits)
        by_holder, wrong = {}, 0
        for frames, labels, value in samples.of("holder_delay"):
            function = next((frame for frame in frames if frame.startswith("release_")), "nobody")
            by_holder[function] = by_holder.get(function, 0) + value / 1e9
            releaser = labels.get("waker.thread")
            if releaser != function.replace("release_", "holder-") or releaser == labels["thread.name"]:
                wrong += value / 1e9
        print(f"  released by: {by_holder}, truth: {truth}")
        self.assertLessEqual(wrong, 0.01 * expected, by_holder)
        missed = sum(max(0, delay - by_holder.get(function, 0)) for function, (delay, _) in truth.items())
        self.assertLessEqual(missed, 0.02 * expected + ready, f"{by_holder}, {truth}")

    def test_two_threads(self):
        self.check_contention("2")

    def test_four_threads(self):
        self.check_contention("4")

    def test_sixteen_threads(self):
        self.check_contention("16")

    def test_two_threads_with_a_plain_mutex(self):
        self.check_contention("2", "plain")

    def test_the_address_of_a_lock_is_a_label_on_request(self):
        samples = Samples("-e", "mutex", "--lock-addresses", "--", self.contend, "2", "1")
        addresses = {labels.get("lock.address") for _, labels, _ in samples.of("delay")}
        self.assertEqual(len(addresses), 1)
        self.assertRegex(addresses.pop(), r"^0x[0-9a-f]+$")
        samples = Samples("-e", "mutex", "--", self.contend, "2", "1")
        self.assertFalse(any("lock.address" in labels for _, labels, _ in samples.of("delay")))

    def test_waits_are_told_with_who_ended_them(self):
        samples = Samples("-e", "off-cpu,off-cpu-waker", "--", self.kinds, "3")
        sums = {}
        for frames, labels, value in samples.of("off_cpu"):
            function = next((name for name in ("sleeping", "reading_pipe", "receiving", "polling", "locking")
                             if name in frames), None)
            waker = labels.get("waker.thread", labels.get("waker.process"))
            if labels["wait"] == "run queue":
                self.assertIsNone(waker, "it was woken before")
                continue
            key = (function, waker)
            sums[key] = sums.get(key, 0) + value
        print(sums)
        for function, waker in (("sleeping", "[interrupt: timer]"), ("reading_pipe", "partner"),
                                ("receiving", "partner"), ("polling", "partner"), ("locking", "partner")):
            total = sum(value for (name, _), value in sums.items() if name == function)
            self.assertGreater(sums.get((function, waker), 0), 0.98 * total, f"{function}: {sums}")
        # The same time with both stacks, but for the run queue.
        waiting = sum(value for _, labels, value in samples.of("off_cpu") if labels["wait"] != "run queue")
        self.assertEqual(samples.total("woken_time"), waiting)
        pipes = [frames for frames, *_ in samples.of("woken_time") if "reading_pipe" in frames]
        for frames in pipes:
            mark = next((i for i, frame in enumerate(frames) if frame.startswith(("[woken by", "[waker not"))), None)
            self.assertIsNotNone(mark, frames)
            self.assertEqual(frames[mark + 1], "[pipe]")
            if frames[mark].startswith("[woken by"):
                self.assertIn("write_pipe", frames[:mark])
        self.assertTrue(any("[woken by kinds]" in frames for frames in pipes))


if __name__ == "__main__":
    harness.main()
