#!/usr/bin/env python3
"""Processes that live for 50 ms, from files that are gone by the time anyone looks, have names all the same."""

import shutil
import subprocess

import harness
from harness import LiveRecording, RecordingTest, compile_program

PROCESSES = 200
FLAVOURS = 4
AT_A_TIME = 4
LEAST_NAMED = 0.95


class ShortLived(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = [compile_program(cls.folder, "cpu/brief.c", f"-DFLAVOUR={i}", name=f"brief-{i}")
                        for i in range(FLAVOURS)]

    def start(self, number):
        program = self.programs[number % FLAVOURS]
        if number % 5 != 0:
            return subprocess.Popen([program])
        # A fresh copy, deleted while it starts.
        copy = self.folder / f"copy-{number}"
        shutil.copy(program, copy)
        process = subprocess.Popen([copy])
        copy.unlink()
        return process

    def test_frames_have_names(self):
        recording = LiveRecording("-a", "-F", "499")
        pids, alive = set(), []
        try:
            for number in range(PROCESSES):
                process = self.start(number)
                pids.add(process.pid)
                alive.append(process)
                if len(alive) == AT_A_TIME:
                    alive.pop(0).wait(timeout=harness.DEADLINE)
            for process in alive:
                process.wait(timeout=harness.DEADLINE)
        except BaseException:
            recording.kill()
            raise
        recorded = recording.stop()
        samples = [sample for sample in recorded.samples if sample.pid in pids]
        # 50 ms at 499 Hz are 25 samples of each.
        self.assertGreater(sum(sample.count for sample in samples), 15 * PROCESSES)
        self.assertGreater(len({sample.pid for sample in samples}), 0.99 * PROCESSES)

        frames = named = whole = 0
        unnamed = {}
        for sample in samples:
            # The outermost is the process, with -a; kernel frames are not in question here.
            for name in self.user_frames(sample):
                frames += sample.count
                if name.startswith("["):
                    unnamed[name] = unnamed.get(name, 0) + sample.count
                else:
                    named += sample.count
            whole += sample.count * sample.is_complete
        total = sum(sample.count for sample in samples)
        print(f"{len(pids)} processes, {total} samples, {named} of {frames} user frames named ({named / frames:.2%}), "
              f"{whole / total:.2%} of stacks complete")
        self.assertGreaterEqual(named / frames, LEAST_NAMED, unnamed)
        # And the right ones.
        ours = sum(s.count for s in samples if any(n.startswith(("spin_", "sort_")) for n in s.names))
        self.assertGreater(ours, 0.9 * total)
        deleted = [s for s in samples if s.process.startswith("copy-")]
        self.assertGreater(sum(s.count for s in deleted if "main" in s.names), 0.85 * sum(s.count for s in deleted))

    @staticmethod
    def user_frames(sample):
        names = sample.names[:-1]
        for kernel_entry in ("entry_SYSCALL_64_after_hwframe", "asm_exc_page_fault"):
            if kernel_entry in names:
                return names[names.index(kernel_entry) + 1:]
        entries = [i for i, name in enumerate(names) if name.startswith(("asm_", "entry_", "ret_from_fork"))]
        return names[entries[-1] + 1:] if entries else names


if __name__ == "__main__":
    harness.main()
