#!/usr/bin/env python3
"""Names of run-time code come from /tmp/perf-PID.map, which the target controls: it gets names in, and nothing else out."""

import os
import pwd
import resource
import subprocess
from pathlib import Path

import harness
from harness import RecordingTest, compile_program, record, wait_for_cpu

NOBODY = pwd.getpwnam("nobody")


def become_nobody():
    harness.die_with_parent()
    os.setgroups([])
    os.setgid(NOBODY.pw_gid)
    os.setuid(NOBODY.pw_uid)
    harness.die_with_parent()  # changing the user forgets it


class PerfMaps(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        harness.need_root()
        cls.jit = compile_program(cls.folder, "cpu/jit.c")

    def setUp(self):
        self.victim = subprocess.Popen([self.jit], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                       preexec_fn=become_nobody)
        self.addCleanup(self.victim.stdout.close)
        self.addCleanup(self.victim.wait)
        self.addCleanup(self.victim.kill)
        self.address, self.size = self.victim.stdout.readline().split()
        self.map = Path(f"/tmp/perf-{self.victim.pid}.map")
        self.addCleanup(self.map.unlink, missing_ok=True)
        wait_for_cpu(self.victim)

    def line(self, name):
        return f"{self.address} {self.size} {name}\n"

    def write_map(self, text, owner=NOBODY.pw_uid):
        self.map.write_text(text)
        os.chown(self.map, owner, -1)

    def record(self):
        """The jitted code is sampled and its stack is whole, whatever the map is."""
        recorded = record("-F", "999", "-p", self.victim.pid, "-d", "1s")
        self.assert_sampled(recorded, 20)
        self.assertGreater(recorded.with_name("main"), 0.95 * recorded.count(), recorded.describe_incomplete())
        return recorded

    def named(self, recorded, name):
        return sum(sample.count for sample in recorded.samples if name in sample.names and
                   sample.names[sample.names.index(name) + 1] == "main")

    def test_names_come_from_the_map(self):
        self.write_map(self.line("jitted function"))
        recorded = self.record()
        self.assertGreater(self.named(recorded, "jitted function"), 0.9 * recorded.count(), recorded.names())

    def test_without_a_map(self):
        self.record()

    def test_nonsense_around_a_name(self):
        noise = "\n\nnot hex at all\nffffffffffffffff ffffffffffffffff over the end\n0 0 nothing\n" + "x" * 100_000 + "\n"
        self.write_map(noise + self.line("right") + noise + f"{self.address}")
        recorded = self.record()
        self.assertGreater(self.named(recorded, "right"), 0.9 * recorded.count(), recorded.names())

    def test_a_map_of_someone_else(self):
        someone = pwd.getpwnam("daemon").pw_uid
        self.write_map(self.line("planted"), owner=someone)
        self.assertNotIn("planted", self.record().names())

    def test_a_fifo(self):
        os.mkfifo(self.map)
        os.chown(self.map, NOBODY.pw_uid, -1)
        self.record()

    def test_a_link_to_a_file_that_the_target_may_not_read(self):
        secret = self.folder / "secret"
        secret.write_text(self.line("secret"))
        secret.chmod(0o600)
        self.map.symlink_to(secret)
        os.lchown(self.map, NOBODY.pw_uid, -1)
        recorded = self.record()
        self.assertNotIn("secret", recorded.names())

    def test_a_link_to_the_passwords(self):
        self.map.symlink_to("/etc/shadow")
        users = {line.split(":")[0] + ":" for line in Path("/etc/shadow").read_text().splitlines()}
        names = self.record().names()
        self.assertFalse([name for name in names if any(user in name for user in users)])

    def test_a_gigabyte_of_nothing(self):
        self.write_map(self.line("first"))
        os.truncate(self.map, 1 << 30)
        before = self.children_memory()
        self.record()
        self.assertLessEqual(self.children_memory(), max(before, 400 << 20))

    def test_a_device(self):
        self.map.symlink_to("/dev/zero")
        self.record()

    def test_a_folder(self):
        self.map.mkdir()
        try:
            self.record()
        finally:
            self.map.rmdir()

    @staticmethod
    def children_memory():
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


if __name__ == "__main__":
    harness.main()
