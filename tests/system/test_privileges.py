#!/usr/bin/env python3
"""Who may record: root, someone with three capabilities, and whoever typed sudo; the others are told what is missing."""

import os
import pwd
import subprocess

import harness
from harness import RecordingTest, Recorded, compile_program, pprof_proto, running, support, wait_for_cpu

NOBODY = pwd.getpwnam("nobody")
NEEDED = ("bpf", "perfmon", "sys_ptrace")


class Privileges(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        harness.need_root()
        cls.setpriv = support.need_command("setpriv")
        cls.shares = compile_program(cls.folder, "cpu/shares.c")
        # Others must get at the binary and have a place to write to.
        cls.vesta = cls.folder / "vesta"
        cls.vesta.write_bytes(support.VESTA.read_bytes())
        cls.vesta.chmod(0o755)
        cls.place = cls.folder / "place"
        cls.place.mkdir()
        os.chown(cls.place, NOBODY.pw_uid, NOBODY.pw_gid)

    def as_nobody(self, capabilities, *arguments):
        """Runs vesta as nobody with exactly these capabilities."""
        given = ",".join(["-all", *(f"+{name}" for name in capabilities)])
        return subprocess.run(
            [self.setpriv, "--reuid", str(NOBODY.pw_uid), "--regid", str(NOBODY.pw_gid), "--clear-groups",
             "--inh-caps", given, "--ambient-caps", given, "--bounding-set", given, self.vesta,
             *map(str, arguments)], capture_output=True, text=True, timeout=harness.DEADLINE, cwd=self.place,
            env=harness.environment(HOME=str(self.place), XDG_CACHE_HOME=str(self.place / "cache")))

    def test_without_any(self):
        done = self.as_nobody([], "record", "-a", "-d", "1s", "-o", "x.pb.gz")
        self.assertEqual(done.returncode, 1, done.stderr)
        for name in NEEDED:
            self.assertIn(f"CAP_{name.upper()}", done.stderr)
        self.assertIn("hint: ", done.stderr)
        self.assertNotIn("memlock", done.stderr)
        self.assertFalse((self.place / "x.pb.gz").exists())

    def test_each_missing_one_is_named(self):
        for missing in ("bpf", "perfmon"):
            given = [name for name in NEEDED if name != missing]
            done = self.as_nobody(given, "record", "-a", "-d", "1s", "-o", "x.pb.gz")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"missing CAP_{missing.upper()}\n", done.stderr)

    def test_a_command_is_not_run_without_permission(self):
        done = self.as_nobody([], "record", "-o", "x.pb.gz", "--", "touch", self.place / "ran")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse((self.place / "ran").exists())

    def test_three_capabilities_are_enough(self):
        path = self.place / "three.pb.gz"
        # Of root: nothing of it is ours to read but through the capabilities.
        with running(self.shares) as victim:
            wait_for_cpu(victim)
            for target in (["-p", victim.pid], ["-a"]):
                with self.subTest(target[0]):
                    done = self.as_nobody(NEEDED, "record", *target, "-F", "999", "-d", "1s", "-o", path)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    recorded = Recorded(done.stderr, path)
                    stacks = recorded.of(victim.pid)
                    total = sum(sample.count for sample in stacks)
                    self.assertGreater(total, 20)
                    for name in ("spin", "main", "__libc_start_call_main"):
                        found = sum(sample.count for sample in stacks if name in sample.names)
                        self.assertGreater(found, 0.9 * total, f"{name}: {stacks[0].names}")

    def test_three_capabilities_record_a_command(self):
        path = self.place / "command.pb.gz"
        done = self.as_nobody(NEEDED, "record", "-F", "999", "-o", path, "--", self.shares, "500")
        self.assertEqual(done.returncode, 0, done.stderr)
        recorded = Recorded(done.stderr, path)
        self.assertGreater(recorded.with_name("spin"), 0.9 * recorded.count())

    def test_under_sudo(self):
        path = self.place / "sudo.pb.gz"
        who = self.place / "who"
        environment = harness.environment(SUDO_UID=str(NOBODY.pw_uid), SUDO_GID=str(NOBODY.pw_gid))
        harness.vesta_record("-F", "999", "-o", path, "--", "sh", "-c",
                             f"id -u > {who}; id -g >> {who}; id -G >> {who}; echo $HOME >> {who}; {self.shares} 200",
                             env=environment)
        ids = [str(NOBODY.pw_uid), str(NOBODY.pw_gid), str(NOBODY.pw_gid), NOBODY.pw_dir]
        self.assertEqual(who.read_text().split(), ids)
        self.assertEqual((path.stat().st_uid, path.stat().st_gid), (NOBODY.pw_uid, NOBODY.pw_gid))
        self.assertTrue(pprof_proto.read(path).samples)

    def test_without_sudo_the_file_is_roots(self):
        path = self.place / "root.pb.gz"
        harness.vesta_record("-F", "999", "-o", path, "--", self.shares, "200")
        self.assertEqual(path.stat().st_uid, 0)

    def test_kernel_names_need_no_more(self):
        done = self.as_nobody(NEEDED, "record", "-F", "999", "-o", "k.pb.gz", "--", "dd", "if=/dev/zero",
                              "of=/dev/null", "bs=1M", "count=3000")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        # kallsyms may hide addresses from this user; then the summary says so.
        profile = pprof_proto.read(self.place / "k.pb.gz")
        names = {frame[0] for sample in profile.samples for location in sample.stack for frame in location}
        self.assertTrue("do_syscall_64" in names or "kernel functions have no names" in done.stderr, sorted(names)[:50])


if __name__ == "__main__":
    harness.main()
