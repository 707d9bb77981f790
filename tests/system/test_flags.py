#!/usr/bin/env python3
"""Every flag of `vesta record`, what it says, and how it ends."""

import base64
import fcntl
import gzip
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import urllib.error
import urllib.request
from pathlib import Path

import harness
from harness import (LiveRecording, RecordingTest, compile_program, pprof_proto, record, running, support,
                     vesta_record, wait_for_cpu, wait_for_more_cpu, wait_until)

KERNEL_NAMES = {"entry_SYSCALL_64_after_hwframe", "do_syscall_64", "asm_exc_page_fault",
                "asm_sysvec_apic_timer_interrupt"}


def profile_of_page(page):
    """The columns inside of an exported page (docs/formats/flame-columns.md)."""
    return base64.b64decode(re.search(rb'id="profile"[^>]*>([^<]*)<', page)[1])


class Flags(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shares = compile_program(cls.folder, "cpu/shares.c")
        cls.syscalls = compile_program(cls.folder, "cpu/syscalls.c")
        cls.steady = compile_program(cls.folder, "cpu/steady.c", "-pthread")

    def start(self, *command):
        victim = self.enterContext(running(*command))
        wait_for_cpu(victim)
        return victim

    def test_every_format_by_its_ending(self):
        victim = self.start(self.shares)
        checks = {
            "pb.gz": lambda data: pprof_proto.parse(gzip.decompress(data)).samples,
            "folded": lambda data: re.search(rb"^_start;.*;main;heavy;spin \d+$", data, re.MULTILINE),
            "speedscope.json": lambda data: json.loads(data)["profiles"],
            "flamebearer.json": lambda data: json.loads(data)["flamebearer"],
            "otlp.json": lambda data: json.loads(data)["resourceProfiles"],
            "otlp": lambda data: b"heavy" in data,
            "svg": lambda data: b"<svg" in data and b"heavy" in data,
            "html": lambda data: b"<html" in data.lower() and b"heavy" in profile_of_page(data),
        }
        # What --help lists is what there is.
        listed = set(re.findall(r"(?<=[\s,])\.([a-z.]+)", support.vesta("record", "--help").stdout.replace("\n", " ")))
        self.assertEqual({ending.rstrip(".") for ending in listed}, set(checks))
        for ending, check in checks.items():
            with self.subTest(ending):
                path = self.folder / f"out.{ending}"
                done = vesta_record("-p", victim.pid, "-F", "499", "-d", "300ms", "-o", path)
                self.assertIn(f"wrote {path}", done.stderr)
                self.assertTrue(check(path.read_bytes()), ending)

    def test_vesta_reads_what_it_records(self):
        victim = self.start(self.shares)
        for ending in ("pb.gz", "folded", "otlp", "speedscope.json"):
            path = self.folder / f"read.{ending}"
            vesta_record("-p", victim.pid, "-F", "499", "-d", "300ms", "-o", path)
            top = json.loads(support.vesta("top", path, "-o", "json", "--nodes", "0").stdout)
            self.assertIn("heavy", [row["name"] for row in top["rows"]], ending)

    def test_standard_output(self):
        victim = self.start(self.shares)
        done = vesta_record("-p", victim.pid, "-F", "499", "-d", "300ms", "-o", "-", text=False)
        self.assertTrue(pprof_proto.parse(gzip.decompress(done.stdout)).samples)
        self.assertNotIn(b"wrote", done.stderr)
        done = vesta_record("-p", victim.pid, "-F", "499", "-d", "300ms", "-o", "-", "--format", "folded")
        self.assertRegex(done.stdout, r"(?m)^_start;.*;main;heavy;spin \d+$")

    def test_default_file(self):
        victim = self.start(self.shares)
        folder = self.folder / "default"
        folder.mkdir()
        vesta_record("-p", victim.pid, "-F", "499", "-d", "300ms", cwd=folder)
        self.assertEqual([entry.name for entry in folder.iterdir()], ["vesta-cpu.pb.gz"])

    def test_frequency(self):
        victim = self.start(self.shares)
        for frequency in (1, 99, 999):
            done = vesta_record("-p", victim.pid, "-F", frequency, "-d", "1s", "-o", self.folder / "f.pb.gz", check=False)
            # At 1 Hz on a busy machine there may be none.
            if done.returncode == 0:
                self.assertEqual(pprof_proto.read(self.folder / "f.pb.gz").period, round(1e9 / frequency))
                self.assertIn(f"({frequency} Hz, ", done.stderr)
            else:
                self.assertEqual(frequency, 1, done.stderr)

    def test_durations(self):
        victim = self.start(self.shares)
        for text, seconds in (("1", 1), ("1.2s", 1.2), ("700ms", 0.7)):
            recorded = record("-p", victim.pid, "-F", "499", "-d", text)
            # Never shorter; how much longer is up to the machine.
            self.assertGreaterEqual(recorded.raw.duration_ns, seconds * 0.99e9, text)

    def test_several_processes(self):
        victims = [self.start(self.shares) for _ in range(3)]
        recorded = record("-p", f"{victims[0].pid},{victims[2].pid}", "-F", "999", "-d", "1s")
        self.assertEqual({sample.pid for sample in recorded.samples}, {victims[0].pid, victims[2].pid})

    def test_whole_host_has_processes_as_outermost_frames(self):
        victim = self.start(self.shares)
        recorded = record("-a", "-F", "499", "-d", "1s")
        self.assertTrue(recorded.of(victim.pid))
        self.assertEqual({sample.names[-1] for sample in recorded.of(victim.pid)}, {"shares"})

    def test_children_are_recorded_too(self):
        script = f"{self.shares} 400 & {self.shares} 400 & wait"
        recorded = record("-F", "999", "--", "sh", "-c", script)
        self.assertEqual(len({sample.pid for sample in recorded.samples if "heavy" in sample.names}), 2)

    def test_no_kernel(self):
        victim = self.start(self.syscalls)
        with_kernel = record("-p", victim.pid, "-F", "499", "-d", "500ms")
        self.assertTrue(KERNEL_NAMES & with_kernel.names())
        without = record("-p", victim.pid, "-F", "499", "-d", "500ms", "--no-kernel")
        self.assertFalse(KERNEL_NAMES & without.names())
        self.assertIn("main", without.names())
        self.assertFalse(any("kernel" in mapping["file"] for mapping in without.raw.mappings))

    def test_per_thread(self):
        victim = self.start_threads()
        recorded = record("-p", victim.pid, "-F", "999", "-d", "1s", "--per-thread")
        threads = {sample.labels["thread.name"]: sample.labels["thread.id"] for sample in recorded.samples}
        self.assertLessEqual({"worker-0", "worker-1", "worker-2"}, set(threads))
        alive = {int(entry) for entry in os.listdir(f"/proc/{victim.pid}/task")}
        self.assertLessEqual(set(threads.values()), alive)
        together = record("-p", victim.pid, "-F", "999", "-d", "300ms")
        self.assertFalse(any("thread.id" in sample.labels for sample in together.samples))

    def start_threads(self):
        victim = self.enterContext(running(self.steady, "100000000"))
        wait_until(lambda: len(os.listdir(f"/proc/{victim.pid}/task")) == 4, "threads run")
        return victim

    def test_clock(self):
        victim = self.start(self.shares)
        self.assertIn("cpu-clock", vesta_record("-p", victim.pid, "-d", "300ms", "--clock", "cpu-clock", "-F", "499",
                                                "-o", self.folder / "c.pb.gz").stderr)
        done = vesta_record("-p", victim.pid, "-d", "300ms", "--clock", "ref-cycles", "-F", "499", "-o",
                            self.folder / "c.pb.gz", check=False)
        if done.returncode != 0:
            self.assertIn("no hardware counter", done.stderr)
            self.assertIn("--clock cpu-clock", done.stderr)

    def test_signals_end_it_and_it_still_writes(self):
        victim = self.start(self.shares)
        for number in (signal.SIGINT, signal.SIGTERM):
            recording = LiveRecording("-p", victim.pid, "-F", "999")
            wait_for_more_cpu(victim, 0.3)
            self.assertGreater(recording.stop(number).with_name("heavy"), 50)

    def test_ctrl_c_with_a_command(self):
        # From a terminal both get it. The command may go on; the recording ends.
        done = self.run_in_terminal([support.VESTA, "record", "-F", "999", "-o", self.folder / "t.pb.gz", "--",
                                     self.shares], interrupt_after=rb"\d{3,} samples")
        self.assertIn("wrote", done)
        self.assertIn("heavy", Path(self.folder / "t.pb.gz").exists() and
                      {name for s in pprof_proto.read(self.folder / "t.pb.gz").samples for loc in s.stack
                       for name, _, _ in loc})

    def test_progress_line_in_a_terminal(self):
        victim = self.start(self.shares)
        text = self.run_in_terminal([support.VESTA, "record", "-p", str(victim.pid), "-F", "999", "-d", "1s", "-o",
                                     self.folder / "t.pb.gz"])
        self.assertRegex(text, r"\d\.\ds of 1\.0s  [\d,]+ samples  lost 0  complete stacks \S+%  named frames \S+%")
        self.assertRegex(text, r"recorded process \d+ for ")

    @staticmethod
    def run_in_terminal(command, interrupt_after=None):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(command[0], list(map(str, command)), harness.environment(TERM="xterm"))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 160, 0, 0))
        text = b""
        while True:
            try:
                got = os.read(terminal, 4096)
            except OSError:  # the end of a terminal
                break
            text += got
            if interrupt_after and re.search(interrupt_after, text):
                os.write(terminal, b"\x03")
                interrupt_after = None
        os.waitpid(pid, 0)
        os.close(terminal)
        return text.decode(errors="replace")

    def test_a_command_that_fails(self):
        done = vesta_record("-F", "999", "-o", self.folder / "e.pb.gz", "--", "sh", "-c", f"{self.shares} 100; exit 3")
        self.assertIn("sh exited with code 3", done.stderr)
        self.assertTrue((self.folder / "e.pb.gz").exists())
        done = vesta_record("-F", "999", "-o", self.folder / "e.pb.gz", "--", "sh", "-c",
                            f"{self.shares} 100; kill -SEGV $$")
        self.assertIn("signal 11", done.stderr)

    def test_summary(self):
        victim = self.start(self.shares)
        path = self.folder / "s.pb.gz"
        text = vesta_record("-p", victim.pid, "-F", "499", "-d", "500ms", "-o", path).stderr
        self.assertRegex(text, rf"recorded process {victim.pid} for \S+: \S+ of CPU in [\d,]+ samples \(499 Hz, ")
        self.assertRegex(text, r"complete stacks \S+, named frames \S+, lost \d")
        self.assertRegex(text, r"\n +\S+ +\S+% +\S+% +\S+ +\S+%  spin\n")
        self.assertIn(f"next: vesta flame {path}", text)

    def test_events(self):
        victim = self.start(self.shares)
        path = self.folder / "e.pb.gz"
        # A rate of its own goes before the common one.
        for flags, rate in ((["-e", "cpu"], 99), (["-e", "cpu", "-F", "199"], 199),
                            (["--event=cpu=499", "-F", "199"], 499)):
            text = vesta_record("-p", victim.pid, *flags, "-d", "300ms", "-o", path).stderr
            self.assertRegex(text, rf"\S+ of CPU in [\d,]+ samples \({rate} Hz, ")

    def test_open_serves_the_page(self):
        victim = self.start(self.shares)
        process = self.enterContext(running(support.VESTA, "record", "-p", victim.pid, "-F", "499", "-d", "300ms",
                                            "--open", "-o", self.folder / "o.pb.gz", stderr=subprocess.PIPE,
                                            text=True, env=harness.environment()))
        line = next(line for line in process.stderr if line.startswith("open "))
        url = re.match(r"open (http://127\.0\.0\.1:\d+/\w+)", line)[1]
        page = urllib.request.urlopen(url, timeout=harness.DEADLINE).read()
        self.assertIn(b"heavy", profile_of_page(page))
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(url.rsplit("/", 1)[0] + "/", timeout=harness.DEADLINE)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=harness.DEADLINE), 0)


if __name__ == "__main__":
    harness.main()
