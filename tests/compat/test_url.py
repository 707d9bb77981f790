#!/usr/bin/env python3
"""vesta reads profiles straight from the /debug/pprof of a running Go program."""

import os
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from harness import REPOSITORY, run_vesta, top

SOURCE = REPOSITORY / "tests/programs/go"


class Url(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        go = harness.support.need_command("go")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        binary = Path(folder.name) / "burn"
        subprocess.run([go, "build", "-o", binary, "."], cwd=SOURCE, check=True,
                       env={**os.environ, "GOFLAGS": "-buildvcs=false"})
        # The server ends with its standard input, so also when this test is killed.
        cls.server = subprocess.Popen([binary, "-profile", "server"], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        cls.addClassCleanup(cls.stop)
        cls.url = f"http://127.0.0.1:{int(cls.server.stdout.readline())}/debug/pprof"

    @classmethod
    def stop(cls):
        cls.server.stdin.close()
        cls.server.wait(timeout=10)
        cls.server.stdout.close()

    def test_heap(self):
        report = top(f"{self.url}/heap", "--type", "inuse_space")
        self.assertEqual(report["unit"], "bytes")
        kept = harness.match_cum(report, r"^main\.keepBlocks$")
        # Sampled once in 512 KiB on average, from 3 MiB kept: some of it is always seen.
        self.assertGreater(kept, 0)

    def test_cpu_for_a_second(self):
        report = top(f"{self.url}/profile?seconds=1", "--type", "cpu")
        self.assertEqual(report["unit"], "nanoseconds")
        self.assertGreater(report["duration_ns"], 0.9e9)
        self.assertGreater(harness.match_cum(report, r"^main\.burn$"), 0)

    def test_goroutines(self):
        report = top(f"{self.url}/goroutine")
        self.assertGreater(report["total"], 1)

    def check_error(self, url, *expected):
        done = run_vesta("top", url, "-o", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.strip().splitlines()
        self.assertLessEqual(len(lines), 2, "an error is a line, and perhaps a line with a hint")
        for text in expected:
            self.assertIn(text, done.stderr.lower())

    def test_not_found(self):
        self.check_error(f"{self.url}/nothing-here", "404")

    def test_refused(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
            port = taken.getsockname()[1]
            self.check_error(f"http://127.0.0.1:{port}/debug/pprof/heap", "127.0.0.1")

    def test_not_a_profile(self):
        self.check_error(f"{self.url}/cmdline")


if __name__ == "__main__":
    harness.main()
