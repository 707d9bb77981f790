#!/usr/bin/env python3
"""Targets that die, change under vesta's eyes, or are made to harm whoever reads them: no crash, no hang, no nonsense."""

import os
import random
import signal
import struct
import subprocess

import harness
from harness import (LiveRecording, RecordingTest, compile_program, record, running, vesta_record, wait_for_cpu,
                     wait_for_more_cpu)

VARIANTS = 50
MOST_MEMORY = 400 << 20


class BadTargets(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def test_no_such_process(self):
        done = vesta_record("-p", 4194304, "-o", self.folder / "x.pb.gz", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no process 4194304", done.stderr)
        # One that was there a moment ago.
        gone = subprocess.Popen(["true"])
        gone.wait()
        done = vesta_record("-p", f"{os.getpid()},{gone.pid}", "-d", "1s", "-o", self.folder / "x.pb.gz", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no process {gone.pid}", done.stderr)

    def test_a_command_that_ends_at_once(self):
        done = vesta_record("-o", self.folder / "x.pb.gz", "--", "true", check=False)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        if done.returncode == 4:
            self.assertIn("true used no CPU time during the recording", done.stderr)
            self.assertIn("hint: ", done.stderr)

    def test_a_target_that_dies_while_it_is_recorded(self):
        with running(self.shares) as victim:
            wait_for_cpu(victim)
            recording = LiveRecording("-F", "999", "-p", victim.pid)
            wait_for_more_cpu(victim, 0.3)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            recorded = recording.stop()
        self.assertGreater(recorded.with_name("heavy"), 50)

    def test_targets_that_die_while_vesta_starts(self):
        for rounds in (1, 20, 60, 120):
            with running(self.shares, rounds) as victim:
                done = vesta_record("-F", "999", "-p", victim.pid, "-d", "200ms", "-o", self.folder / "x.pb.gz",
                                    check=False)
            self.assertIn(done.returncode, (0, 1, 4), done.stderr)

    def test_a_target_that_execs_in_a_loop(self):
        execs = compile_program(self.folder, "cpu/execs.c")
        recorded = record("-F", "999", "--", execs, "300")
        self.assertGreater(recorded.with_name("between_execs"), 50)
        self.assertEqual(len({sample.pid for sample in recorded.samples}), 1)
        self.assertGreater(recorded.summary.complete, 0.9, recorded.describe_incomplete())

    def test_libraries_that_come_and_go(self):
        libraries = [compile_program(self.folder, "cpu/plugin.c", "-shared", "-fPIC", f"-DFUNCTION={name}",
                                     name=f"{name}.so") for name in ("first", "second")]
        plugins = compile_program(self.folder, "cpu/plugins.c", "-ldl")
        with running(plugins, *libraries) as victim:
            wait_for_cpu(victim)
            recorded = record("-F", "999", "-p", victim.pid, "-d", "3s")
        right = wrong = 0
        for sample in recorded.samples:
            for caller, callee, other in (("call_first", "first", "second"), ("call_second", "second", "first")):
                if caller in sample.names:
                    callees = sample.names[:sample.names.index(caller)]
                    right += sample.count * (callee in callees)
                    wrong += sample.count * (other in callees)
        print(f"{right} right, {wrong} wrong of {recorded.count()}")
        self.assertGreater(right, 0.9 * recorded.count(), recorded.describe_incomplete())
        self.assertEqual(wrong, 0)

    def damaged(self, number):
        """A copy of a program with damage that only its readers see: the program itself still runs."""
        data = bytearray(self.shares.read_bytes())
        dice = random.Random(number)
        table = struct.unpack_from("<Q", data, 40)[0]
        entry_bytes, count, names_index = struct.unpack_from("<HHH", data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_bytes) for i in range(count)]
        names = headers[names_index][4]
        sections = {bytes(data[names + h[0]:data.index(0, names + h[0])]).decode(): h for h in headers}
        unused = [h for name, h in sections.items()
                  if name.startswith((".debug", ".symtab", ".strtab", ".shstrtab", ".eh_frame", ".comment"))]
        kind = number % 6
        if kind == 0:  # noise in a section
            _, _, _, _, offset, size, *_ = dice.choice(unused)
            for _ in range(max(1, size // 20)):
                data[offset + dice.randrange(size)] = dice.randrange(256)
        elif kind == 1:  # noise in the table of sections
            for _ in range(40):
                data[table + dice.randrange(entry_bytes * count)] = dice.choice((0, 0x7f, 0xff, dice.randrange(256)))
        elif kind == 2:  # a section that claims to be huge, or elsewhere
            i = dice.randrange(1, count)
            field = dice.choice((24, 32, 56))  # offset, size, entry size
            struct.pack_into("<Q", data, table + i * entry_bytes + field, dice.choice((1 << 63, 1 << 40, len(data) - 1)))
        elif kind == 3:  # the header points anywhere
            struct.pack_into("<Q", data, 40, dice.choice((1 << 62, len(data) - 8, 1, 0)))
            struct.pack_into("<HHH", data, 58, dice.choice((0, 1, 64, 65535)), 65535, dice.randrange(65536))
        elif kind == 4:  # cut off behind what is loaded
            end = max(h[4] + h[5] for h in headers if h[2] & 2 and h[1] != 8)
            del data[end + dice.randrange(len(data) - end):]
        else:  # unwind rules at random
            for name in (".eh_frame", ".eh_frame_hdr"):
                _, _, _, _, offset, size, *_ = sections[name]
                for _ in range(size // 10):
                    data[offset + dice.randrange(size)] = dice.randrange(256)
        path = self.folder / f"damaged-{number}"
        path.write_bytes(data)
        path.chmod(0o755)
        return path

    def test_programs_with_damaged_files(self):
        programs = [self.damaged(number) for number in range(VARIANTS)]
        recording = LiveRecording("-a", "-F", "999")
        try:
            for program in programs:
                done = subprocess.run([program, "60"], timeout=harness.DEADLINE)
                self.assertEqual(done.returncode, 0, f"{program.name} does not run")
            memory = self.peak_memory(recording.process.pid)
        except BaseException:
            recording.kill()
            raise
        recorded = recording.stop()
        seen = {sample.process for sample in recorded.samples if sample.process.startswith("damaged-")}
        self.assertGreater(len(seen), 0.9 * VARIANTS)
        self.assertLess(memory, MOST_MEMORY)

    @staticmethod
    def peak_memory(pid):
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    harness.main()
