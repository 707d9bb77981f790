#!/usr/bin/env python3
"""What can be recorded: processes by name, threads, cgroups, containers, units; and when a recording ends by itself."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import harness
from harness import (RecordingTest, compile_program, record, running, support, vesta_record, wait_for_cpu, wait_until)

CGROUPS = Path("/sys/fs/cgroup")


class Cgroup:
    """A folder in the kernel's tree of cgroups, gone at the end of a test."""

    def __init__(self, test, hierarchy, name):
        self.folder = hierarchy / name
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            support.skip(f"cannot make a cgroup: {error}")
        test.addCleanup(self.remove)

    def add(self, process):
        (self.folder / "cgroup.procs").write_text(str(process.pid))

    def remove(self):
        def is_gone():
            try:
                self.folder.rmdir()
            except FileNotFoundError:
                return True
            except OSError:  # a process is on its way out
                return False
            return True
        wait_until(is_gone, f"{self.folder} is empty")


def version_2():
    for folder in (CGROUPS, CGROUPS / "unified"):
        if (folder / "cgroup.controllers").exists():
            return folder
    return support.skip("there are no cgroups of version 2 here")


def version_1():
    for name in ("cpu", "cpu,cpuacct", "pids", "systemd"):
        if (CGROUPS / name / "tasks").exists():
            return CGROUPS / name
    return None


class Targets(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shares = compile_program(cls.folder, "cpu/shares.c")
        cls.steady = compile_program(cls.folder, "cpu/steady.c", "-pthread")
        cls.name = f"vt-{os.getpid()}"
        cls.named = cls.folder / cls.name
        shutil.copy(cls.shares, cls.named)

    def start(self, *command):
        victim = self.enterContext(running(*command))
        wait_for_cpu(victim)
        return victim

    def pids(self, recorded):
        return {sample.pid for sample in recorded.samples}

    def test_a_name_stands_for_every_process_that_has_it(self):
        victims = [self.start(self.named), self.start(self.named)]
        self.start(self.shares)
        recorded = record("-p", self.name, "-F", "499", "-d", "2s")
        self.assertEqual(self.pids(recorded), {victim.pid for victim in victims})
        for victim in victims:
            self.assertRegex(recorded.stderr, rf"(?m)^recording {self.name} \(.*\b{victim.pid}\b.*\)$")

    def test_flags_repeat_and_mix(self):
        by_name, first, second, _ = (self.start(self.named), self.start(self.shares), self.start(self.shares),
                                     self.start(self.shares))
        recorded = record("-p", f"{self.name},{first.pid}", "-p", second.pid, "-F", "499", "-d", "2s")
        self.assertEqual(self.pids(recorded), {by_name.pid, first.pid, second.pid})

    def test_a_name_that_nothing_has(self):
        self.start(self.named)
        done = vesta_record("-p", self.name + "x", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no process has the name '{self.name}x'", done.stderr)
        self.assertIn(f"did you mean {self.name}", done.stderr)

    def test_vesta_never_matches_itself(self):
        own = self.folder / f"own-{os.getpid()}"
        os.symlink(support.VESTA, own)
        done = subprocess.run([own, "record", "-p", own.name, "-d", "1s"], capture_output=True, text=True,
                              env=harness.environment(), check=False, timeout=harness.DEADLINE)
        self.assertIn(f"no process has the name '{own.name}'", done.stderr)

    def test_a_bare_word_is_answered_with_what_was_meant(self):
        self.start(self.named)
        done = vesta_record(self.name, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"try vesta record -p {self.name}", done.stderr)
        done = vesta_record("no-such-program-here", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("try vesta record -- no-such-program-here", done.stderr)

    def test_one_thread(self):
        victim = self.enterContext(running(self.steady, "100000000"))
        tasks = Path(f"/proc/{victim.pid}/task")
        wait_until(lambda: len(list(tasks.iterdir())) == 4, "threads run")
        by_name = {(task / "comm").read_text().strip(): int(task.name) for task in tasks.iterdir()}
        chosen = by_name["worker-1"]
        recorded = record("--tid", chosen, "-F", "499", "-d", "2s", "--per-thread")
        self.assertEqual({sample.labels["thread.id"] for sample in recorded.samples}, {chosen})
        self.assertIn(f"recorded thread {chosen} for ", recorded.stderr)

    def test_a_thread_that_does_not_exist(self):
        done = vesta_record("--tid", 4194304, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no thread 4194304", done.stderr)

    def check_cgroup(self, hierarchy, flag, name, word):
        """Members, those in cgroups below, and one that joins later are recorded; others are not."""
        outer = Cgroup(self, hierarchy, name)
        inner = Cgroup(self, hierarchy, f"{name}/below")
        members = [self.start(self.shares) for _ in range(3)]
        self.start(self.shares)
        outer.add(members[0])
        inner.add(members[1])
        recording = harness.LiveRecording(flag, word, "-F", "499")
        outer.add(members[2])
        for member in members:
            harness.wait_for_more_cpu(member, 0.1)
        # A cgroup of version 1 is looked at every second: enough of the late one after that.
        harness.wait_for_more_cpu(members[2], 2)
        recorded = recording.stop()
        self.assertEqual(self.pids(recorded), {member.pid for member in members})

    def test_cgroup_of_version_2(self):
        self.check_cgroup(version_2(), "--cgroup", f"vesta-{os.getpid()}", f"vesta-{os.getpid()}")

    def test_cgroup_by_its_whole_path(self):
        hierarchy = version_2()
        name = f"vesta-path-{os.getpid()}"
        cgroup = Cgroup(self, hierarchy, name)
        victim = self.start(self.shares)
        cgroup.add(victim)
        for word in (f"/{name}", hierarchy / name):
            recorded = record("--cgroup", word, "-F", "499", "-d", "1s")
            self.assertEqual(self.pids(recorded), {victim.pid})

    def test_cgroup_of_version_1(self):
        hierarchy = version_1()
        if hierarchy is None:
            self.skipTest("this host has cgroups of version 2 only")
        self.check_cgroup(hierarchy, "--cgroup", f"vesta-old-{os.getpid()}", f"vesta-old-{os.getpid()}")

    def test_container(self):
        number = f"{os.getpid():08x}" + "c0ffee" * 9 + "00"
        self.check_cgroup(version_2(), "--container", f"docker-{number}.scope", number[:12])

    def test_unit(self):
        self.check_cgroup(version_2(), "--systemd-unit", f"vesta-{os.getpid()}.service", f"vesta-{os.getpid()}")

    def test_an_empty_cgroup_is_an_error(self):
        name = f"vesta-empty-{os.getpid()}"
        Cgroup(self, version_2(), name)
        done = vesta_record("--cgroup", name, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no process runs in cgroup {name}", done.stderr)
        for flag, message in (("--cgroup", "no cgroup missing"), ("--systemd-unit", "no systemd unit missing is running"),
                              ("--container", "no container missing is running")):
            done = vesta_record(flag, "missing", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertIn("hint: ", done.stderr)


class Endings(RecordingTest):
    """A recording ends when what it records has ended, long before its time is over."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def record_in_background(self, *arguments):
        path = self.folder / "ending.pb.gz"
        path.unlink(missing_ok=True)
        recording = harness.LiveRecording(*arguments)
        self.addCleanup(recording.kill)
        return recording

    def finish(self, recording):
        _, stderr = recording.process.communicate(timeout=harness.DEADLINE)
        self.assertEqual(recording.process.returncode, 0, stderr)
        self.assertRegex(stderr, r"(?m)^ended after \S+: all recorded processes have ended$")
        return harness.Recorded(stderr, recording.path)

    def test_ends_with_its_process(self):
        with running(self.shares) as victim:
            wait_for_cpu(victim)
            recording = self.record_in_background("-p", victim.pid, "-F", "499")
            harness.wait_for_more_cpu(victim, 0.2)
            self.assertIsNone(recording.process.poll())
        self.assertGreater(self.finish(recording).with_name("heavy"), 10)

    def test_ends_with_the_last_of_several(self):
        with running(self.shares) as last:
            with running(self.shares) as first:
                for victim in (first, last):
                    wait_for_cpu(victim)
                recording = self.record_in_background("-p", f"{first.pid},{last.pid}", "-F", "499")
            harness.wait_for_more_cpu(last, 0.3)
            self.assertIsNone(recording.process.poll())
        self.finish(recording)

    def test_waits_for_children(self):
        # The shell goes first; what it forked is still recorded.
        shell = subprocess.Popen(["sh", "-c", f"read line; {self.shares} & echo $!; read line"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True, preexec_fn=harness.die_with_parent)
        try:
            recording = self.record_in_background("-p", shell.pid, "-F", "499")
            shell.stdin.write("go\n")
            shell.stdin.flush()
            child = int(shell.stdout.readline())
            self.addCleanup(lambda: subprocess.run(["kill", "-9", str(child)], check=False, stderr=subprocess.DEVNULL))
            shell.stdin.close()
            shell.wait(timeout=harness.DEADLINE)
            before = harness.cpu_ns(child)
            wait_until(lambda: harness.cpu_ns(child) > before + 3e8, "the child burns")
            self.assertIsNone(recording.process.poll())
            os.kill(child, 9)
            self.assertGreater(self.finish(recording).count(child), 10)
        finally:
            shell.kill()
            shell.wait()
            shell.stdout.close()

    def test_ends_with_its_cgroup(self):
        name = f"vesta-end-{os.getpid()}"
        cgroup = Cgroup(self, version_2(), name)
        with running(self.shares) as victim:
            wait_for_cpu(victim)
            cgroup.add(victim)
            recording = self.record_in_background("--cgroup", name, "-F", "499")
            harness.wait_for_more_cpu(victim, 0.2)
        self.finish(recording)

    def test_a_zombie_is_said_to_have_ended(self):
        zombie = subprocess.Popen(["true"])
        self.addCleanup(zombie.wait)
        wait_until(lambda: " Z " in Path(f"/proc/{zombie.pid}/stat").read_text(), "true has ended")
        done = vesta_record("-p", zombie.pid, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"process {zombie.pid} has ended", done.stderr)

    def test_a_process_that_ends_while_vesta_starts(self):
        # However the race goes, the message says what happened.
        for delay in (0.0, 0.2, 0.6, 1.2):
            victim = subprocess.Popen(["sleep", "1000"])
            recording = subprocess.Popen([support.VESTA, "record", "-p", str(victim.pid), "-d", "30s", "-o",
                                          self.folder / "x.pb.gz"], stderr=subprocess.PIPE, text=True,
                                         env=harness.environment(), preexec_fn=harness.die_with_parent)
            time.sleep(delay)  # not to be in step: to end it at different moments
            victim.kill()
            victim.wait()
            _, stderr = recording.communicate(timeout=harness.DEADLINE)
            self.assertRegex(stderr, rf"no process {victim.pid}|process {victim.pid} ended ")
            self.assertIn(recording.returncode, (1, 4))


class Frequencies(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def test_the_highest_rate_loses_nothing_and_states_its_cost(self):
        victim = self.enterContext(running(self.shares))
        wait_for_cpu(victim)
        recorded = record("-p", victim.pid, "-F", "9999", "-d", "1s")
        self.assertIn("(9999 Hz, ", recorded.stderr)
        self.assertEqual(recorded.raw.period, round(1e9 / 9999))
        self.assertEqual(recorded.summary.lost, 0, recorded.stderr)
        if os.geteuid() == 0:
            self.assertRegex(recorded.stderr, r"sampling cost \S+% of the CPUs' busy time in the kernel \(\S+ per sample\)")
        self.assertNotIn("sampling cost", record("-p", victim.pid, "-F", "499", "-d", "500ms").stderr)


if __name__ == "__main__":
    harness.main()
