#!/usr/bin/env python3
"""Recording changes nothing in the target and leaves nothing in the kernel, even when vesta is killed."""

import contextlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import harness
from harness import (LiveRecording, RecordingTest, compile_program, record, running, wait_for_cpu, wait_for_more_cpu,
                     wait_until)


def tasks(pid):
    return [Path(entry.path) for entry in os.scandir(f"/proc/{pid}/task")]


def status_of(task):
    """State and tracer of a thread; nothing when it is gone."""
    with contextlib.suppress(OSError):
        fields = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
        return fields["State"][0], int(fields["TracerPid"])
    return None


def bpf_objects():
    """Everything of BPF that the kernel holds, as (kind, id)."""
    found = set()
    for kind in ("prog", "map", "link"):
        done = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True, check=True)
        found |= {(kind, entry["id"]) for entry in json.loads(done.stdout)}
    return found


def bpf_objects_of(pid):
    """Those that a process holds. Others on this machine may use BPF, too."""
    text = ""
    for entry in os.scandir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError):
            text += Path(entry.path).read_text()
    return {(kind, int(number)) for kind, number in re.findall(r"^(prog|map|link)_id:\s*(\d+)$", text, re.MULTILINE)}


def uprobes():
    with contextlib.suppress(OSError):
        return Path("/sys/kernel/tracing/uprobe_events").read_text()
    return ""


def code_maps(pid):
    """Where a tool that patches its target would put code: trampolines, injected libraries."""
    return [line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if " r-xp " in line or " rwxp " in line]


class Untouched(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.steady = compile_program(cls.folder, "cpu/steady.c", "-pthread")
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def test_target_is_never_stopped_or_traced(self):
        with running(self.steady, "1000000") as victim:
            wait_until(lambda: len(tasks(victim.pid)) == 4, "all threads run")
            before = {name: Path(f"/proc/{victim.pid}/{name}").read_text() for name in ("environ", "limits", "cgroup")}
            executable = code_maps(victim.pid)
            seen, looks = set(), 0
            recording = subprocess.Popen(
                [harness.support.VESTA, "record", "-F", "499", "-p", str(victim.pid), "-d", "2s", "-o",
                 str(self.folder / "x.pb.gz")], env=harness.environment(), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, preexec_fn=harness.die_with_parent)
            # From before vesta attaches until after it is gone, as fast as one can look.
            while recording.poll() is None:
                seen |= {status_of(task) for task in tasks(victim.pid)}
                looks += 1
            self.assertEqual(recording.returncode, 0)
            self.assertGreater(looks, 100)
            self.assertEqual({tracer for _, tracer in filter(None, seen)}, {0})
            self.assertLessEqual({state for state, _ in filter(None, seen)}, set("RSD"))
            for name, text in before.items():
                self.assertEqual(Path(f"/proc/{victim.pid}/{name}").read_text(), text)
            self.assertEqual(code_maps(victim.pid), executable)

    def test_output_is_the_same(self):
        plain = subprocess.run([self.steady, "1500"], capture_output=True, text=True, check=True)
        recording = LiveRecording("-a", "-F", "999")
        with subprocess.Popen([self.steady, "1500"], stdout=subprocess.PIPE, text=True) as victim:
            output, _ = victim.communicate(timeout=harness.DEADLINE)
        recorded = recording.stop()
        self.assertEqual(output, plain.stdout)
        self.assertEqual(victim.returncode, 0)
        self.assertGreater(recorded.count(victim.pid), 10)

    def test_a_recorded_command_keeps_its_input_and_output(self):
        done = subprocess.run([harness.support.VESTA, "record", "-o", self.folder / "y.pb.gz", "--", "sh", "-c",
                               "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; cat; echo to-stderr >&2"],
                              input="from stdin\n", capture_output=True, text=True, env=harness.environment(),
                              timeout=harness.DEADLINE)
        self.assertEqual(done.stdout, "from stdin\n")
        self.assertIn("to-stderr\n", done.stderr)

    def held_by(self, recording):
        held = bpf_objects_of(recording.process.pid)
        self.assertEqual({kind for kind, _ in held}, {"prog", "map", "link"})
        self.assertLessEqual(held, bpf_objects())
        return held

    def check_gone(self, held, probes):
        wait_until(lambda: not held & bpf_objects(), "no BPF object is left", deadline=20)
        self.assertEqual(uprobes(), probes)

    def test_nothing_is_left_after_the_end(self):
        harness.support.need_command("bpftool")
        probes = uprobes()
        with running(self.shares) as victim:
            recording = LiveRecording("-p", victim.pid)
            held = self.held_by(recording)
            wait_for_more_cpu(victim, 0.3)
            recording.stop()
        self.check_gone(held, probes)

    def test_nothing_is_left_after_a_kill(self):
        harness.support.need_command("bpftool")
        probes = uprobes()
        with running(self.shares) as victim:
            wait_for_cpu(victim)
            for _ in range(2):
                recording = LiveRecording("-a", "-F", "999")
                held = self.held_by(recording)
                wait_for_more_cpu(victim, 0.2)
                recording.kill()
                self.check_gone(held, probes)
            # The target does not notice, and can be recorded again.
            self.assertEqual(status_of(Path(f"/proc/{victim.pid}"))[1], 0)
            self.assert_sampled(record("-F", "999", "-p", victim.pid, "-d", "500ms"), 10)

    def test_a_killed_vesta_leaves_its_command_running(self):
        ready = self.folder / "ready"
        recording = LiveRecording("--", "sh", "-c", f"echo $$ > {ready}.new; mv {ready}.new {ready}; exec {self.shares}")
        child = int(wait_until(lambda: ready.exists() and ready.read_text(), "the command runs"))
        try:
            recording.kill()
            self.assertIn(status_of(Path(f"/proc/{child}"))[0], "RS")
        finally:
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    harness.main()
