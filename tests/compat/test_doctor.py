#!/usr/bin/env python3
"""vesta doctor on the real kernel, with and without privileges."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import support  # noqa: E402

NOBODY = 65534


def statuses(text):
    return {check["name"]: check for check in json.loads(text)["checks"]}


class Doctor(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            support.skip("needs root")

    def as_nobody(self, *args):
        """Runs it as a user without any rights, from a copy that this user may execute."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(support.VESTA, folder)
            os.chmod(program, 0o755)
            return subprocess.run([program, "doctor", *args], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
                                  env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=60)

    def test_root_may_do_what_the_kernel_can(self):
        done = support.vesta("doctor", "-o", "json", check=False)
        checks = statuses(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        for name in ("architecture", "kernel_version", "btf", "bpf_perf_event", "perf_events"):
            self.assertEqual(checks[name]["status"], "pass", checks[name])

    def test_nobody_is_told_what_is_missing(self):
        done = self.as_nobody("-o", "json")
        checks = statuses(done.stdout)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(checks["capabilities"]["status"], "fail")
        for name in ("CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"):
            self.assertIn(name, checks["capabilities"]["message"])
        self.assertIn("setcap", checks["capabilities"]["fix"])
        self.assertIn("EPERM", checks["bpf_perf_event"]["message"])

    def test_a_fix_is_said_once(self):
        text = self.as_nobody().stdout
        self.assertEqual(text.count("sudo setcap"), 1, text)
        self.assertIn("Vesta cannot profile this machine", text)


if __name__ == "__main__":
    support.main()
