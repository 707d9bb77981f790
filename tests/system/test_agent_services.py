#!/usr/bin/env python3
"""What a running agent calls the programs of a host."""

import os
import shutil
import tempfile
from pathlib import Path

import harness
from harness import RecordingTest, running, wait_until

import agent
from server import Server

BURN = "while True: sum(range(10000))\n"


def labels(server, name, selector="{}"):
    return server.get(f"/api/v1/values/{name}", query=selector, **{"from": "now-1h", "to": "now"})["values"]


class AgentServices(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        agent.need_sampling()
        cls.home = tempfile.TemporaryDirectory(prefix="vesta-services-")
        cls.addClassCleanup(cls.home.cleanup)
        cls.folder = Path(cls.home.name)

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_programs_are_named_as_they_were_started(self):
        python = shutil.which("python3")
        worker = self.script("w.py", BURN)
        shell = self.script("w.sh", "while :; do :; done\n")
        main = self.script("checkout/src/main.py", BURN)
        manage = self.script("billing/manage.py", BURN)
        real = self.folder / "tool-check"
        shutil.copy(harness.compile_program(self.folder, "cpu/shares.c"), real)
        link = self.folder / "tool-server"
        link.symlink_to(real)
        descriptor = os.open(shell, os.O_RDONLY)
        os.set_inheritable(descriptor, True)
        self.addCleanup(os.close, descriptor)
        config = self.script("agent.yaml", "agent: {profiling: {duration: 2s, upload_interval: 1s}}\n")
        storm = self.script("storm.sh", "while :; do ls / >/dev/null; cat /etc/hostname >/dev/null; mkdir -p /tmp; "
                            f"{python} -c 'sum(range(3000000))'; done\n")
        with Server() as server, running(python, worker), running("bash", shell), running(python, main), \
                running(python, "manage.py", cwd=manage.parent), running(link), \
                running("bash", f"/dev/fd/{descriptor}", pass_fds=[descriptor]) as by_descriptor, running("bash", storm), \
                agent.Agent("--config", config, "--endpoint", server.grpc):
            expected = {"w.py", "w.sh", "checkout/main.py", "billing/manage.py", "tool-server", "bash", "short-lived commands"}
            wait_until(lambda: expected <= set(labels(server, "service_name")), "all of them have names", 120)
            found = set(labels(server, "service_name"))
            self.assertFalse(found & {"w", "main", "manage", "tool-check", str(descriptor)}, found)
            self.assertEqual(by_descriptor.poll(), None)
            short = '{service_name="short-lived commands"}'
            wait_until(lambda: any(name.startswith("python3") for name in labels(server, "process.executable.name", short)),
                       "short-lived commands keep their program", 120)
            self.assertFalse(labels(server, "process.pid", short))


harness.main()
