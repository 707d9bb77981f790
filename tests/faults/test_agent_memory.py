#!/usr/bin/env python3
"""An agent in a cgroup with little memory: it lives within that, or says at once that it cannot."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "system")]
import agent  # noqa: E402
import support  # noqa: E402
from harness import compile_program, running, wait_until  # noqa: E402

MIB = 1 << 20
CGROUPS = Path("/sys/fs/cgroup")


class MemoryCgroup:
    """A real one, of version 1 or 2. Skips where none can be made."""

    def __init__(self, limit):
        is_first = (CGROUPS / "memory").is_dir()
        parent = CGROUPS / "memory" if is_first else CGROUPS
        self.folder = parent / f"vesta-test-{os.getpid()}-{limit // MIB}"
        self.limit_file = "memory.limit_in_bytes" if is_first else "memory.max"
        self.kills_file = "memory.oom_control" if is_first else "memory.events"
        try:
            if not is_first and "memory" not in (parent / "cgroup.subtree_control").read_text():
                (parent / "cgroup.subtree_control").write_text("+memory")
            self.folder.mkdir()
            (self.folder / self.limit_file).write_text(str(limit))
        except OSError as error:
            if self.folder.is_dir():
                self.folder.rmdir()
            support.skip(f"no cgroup with a memory limit can be made: {error}")

    def kills(self):
        """Processes that the kernel has killed for want of memory."""
        lines = (self.folder / self.kills_file).read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        def is_gone():
            try:
                self.folder.rmdir()
                return True
            except OSError:
                return False
        wait_until(is_gone, "the cgroup is empty")


class AgentInCgroup(agent.Agent):
    def __init__(self, cgroup, *options):
        super().__init__(*options)
        self.cgroup = cgroup

    def command(self):
        # A shell that moves itself, then becomes the agent.
        procs = self.cgroup.folder / "cgroup.procs"
        return ["sh", "-c", f'echo $$ > {procs} && exec "$@"', "sh", *super().command()]


class AgentMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        agent.need_sampling()
        cls.home = tempfile.TemporaryDirectory(prefix="vesta-agent-memory-")
        cls.addClassCleanup(cls.home.cleanup)
        cls.folder = Path(cls.home.name)
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def cgroup(self, limit):
        cgroup = MemoryCgroup(limit)
        self.addCleanup(cgroup.close)
        return cgroup

    def command(self):
        return [str(support.VESTA), "agent", "--state", str(self.folder / "state"), "--metrics", ""]

    def test_too_little_memory_is_refused_with_what_is_needed(self):
        for limit in (50, 80):
            cgroup = self.cgroup(limit * MIB)
            done = subprocess.run(self.command(), preexec_fn=cgroup.enter, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertGreater(done.returncode, 0, "not killed")
            self.assertIn(f"the memory limit of the agent's cgroup is {limit}MB", done.stderr)
            self.assertIn("or more", done.stderr)
            self.assertEqual(cgroup.kills(), 0)

    def test_128_mib_are_enough_or_refused(self):
        cgroup = self.cgroup(128 * MIB)
        cpus = os.cpu_count()
        if cpus > 34:
            done = subprocess.run(self.command(), preexec_fn=cgroup.enter, capture_output=True, text=True, timeout=60)
            self.assertIn("the memory limit of the agent's cgroup is 128MB", done.stderr)
            return
        out = self.folder / "profiles"
        config = self.folder / "agent.yaml"
        config.write_text(f"""
agent:
  profiling: {{duration: 1s, upload_interval: 1s}}
  exporters:
    - {{name: files, type: files, directory: {out}}}
""")
        # Large binaries with many symbols, which come and go.
        work = "while :; do python3 -c 'import ssl, sqlite3, json; sum(range(300000))'; done"
        with running(self.shares), running("sh", "-c", work), AgentInCgroup(cgroup, "--config", config) as sender:
            self.assertIn("to fit the agent's cgroup", sender.log())
            wait_until(lambda: sender.metric("vesta_agent_windows_total") >= 15, "fifteen windows")
            self.assertGreater(sender.metric("vesta_agent_exporter_sent_total"), 0)
            self.assertEqual(sender.stop(), 0, sender.log())
        self.assertEqual(cgroup.kills(), 0)


support.main()
