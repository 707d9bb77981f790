#!/usr/bin/env python3
"""An agent whose server goes away, and an agent that is killed: what was sampled arrives, once."""

import re
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "system")]
import agent  # noqa: E402
import support  # noqa: E402
from harness import compile_program, running, wait_until  # noqa: E402
from server import Server  # noqa: E402

SAMPLES = "process_cpu:samples:count:cpu:nanoseconds"
FAST = ["--window", "1s"]


def stored(server):
    return server.flame(SAMPLES, "{}")[1]


class AgentFaults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        agent.need_sampling()
        cls.home = tempfile.TemporaryDirectory(prefix="vesta-agent-faults-")
        cls.addClassCleanup(cls.home.cleanup)
        cls.folder = Path(cls.home.name)
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def config(self, name, server, more=""):
        path = self.folder / f"{name}.yaml"
        path.write_text(f"""
agent:
  profiling:
    duration: 1s
    upload_interval: 1s
  exporters:
    - name: server
      type: otlp
      endpoint: {server.grpc}
{more}""")
        return path

    def test_server_is_killed_under_load(self):
        data = self.folder / "killed-data"
        with running(self.shares), Server(data=data) as server:
            with agent.Agent("--config", self.config("killed", server)) as sender:
                wait_until(lambda: stored(server) > 0, "profiles arrive")
                for pause in (0.0, 3.0):
                    server.kill()
                    time.sleep(2 + pause)
                    server.start()
                    before = stored(server)
                    wait_until(lambda: stored(server) > before, "profiles arrive again")
                self.assertEqual(sender.stop(), 0)
                self.assertEqual(stored(server), sender.taken(), sender.log())

    def test_outage_is_said_once_and_its_end_too(self):
        away, back = "cannot reach the server", "the server is reachable again"
        warning = "warning: server: "
        data = self.folder / "outage-data"
        with running(self.shares), Server(data=data) as server:
            with agent.Agent("--config", self.config("outage", server)) as sender:
                wait_until(lambda: stored(server) > 0, "profiles arrive")
                # The metric counts others, too, which come and go on a busy host: symbolization is late, CPU is short.
                self.assertNotIn(warning, sender.health()[1])
                self.assertNotIn(away, sender.log())
                server.kill()
                wait_until(lambda: away in sender.log(), "the outage is in the log")
                line = next(line for line in sender.log().splitlines() if away in line)
                for part in ("queue.max_bytes=256MB", "queue.max_age=", "exporter=server", server.grpc):
                    self.assertIn(part, line)
                status, text = sender.health()
                self.assertEqual(status, 200, "a restart of the agent would not help")
                self.assertIn(warning, text)
                self.assertGreaterEqual(sender.metric("vesta_agent_warnings"), 1)
                failures = sender.metric("vesta_agent_exporter_failures_total")
                wait_until(lambda: sender.metric("vesta_agent_exporter_failures_total") >= failures + 2, "it is tried again")
                self.assertEqual(sender.log().count(away), 1)
                server.start()
                wait_until(lambda: back in sender.log(), "its end is in the log")
                line = next(line for line in sender.log().splitlines() if back in line)
                self.assertRegex(line, r"sent=[1-9]\d* expired=0")
                wait_until(lambda: warning not in sender.health()[1], "the warning is gone")
                self.assertEqual(sender.stop(), 0)
                self.assertEqual((sender.log().count(away), sender.log().count(back)), (1, 1), sender.log())

    def test_agent_is_killed(self):
        with running(self.shares), Server() as server:
            state = self.folder / "killed-agent"
            config = self.config("killed-agent", server)
            server.kill()
            with agent.Agent("--config", config, state=state) as sender:
                queued = wait_until(lambda: (n := sender.metric("vesta_agent_exporter_queued")) > 5 and n,
                                    "profiles are queued")
                sender.kill()
                server.start()
                self.assertEqual(stored(server), 0)
                sender.start()
                wait_until(lambda: stored(server) > 0, "what was queued arrives")
                wait_until(lambda: sender.metric("vesta_agent_exporter_sent_total") >= queued,
                           "all that was queued is sent")

    def test_reload_loses_no_sample(self):
        with running(self.shares), Server() as server:
            config = self.config("reload", server)
            with agent.Agent("--config", config) as sender:
                for rate in (49, 199, 99):
                    before = stored(server)
                    wait_until(lambda: stored(server) > before, "profiles arrive")
                    config.write_text(config.read_text().replace("  profiling:\n", f"  profiling:\n    sample_rate: {rate}\n", 1)
                                      if "sample_rate" not in config.read_text() else
                                      re.sub(r"sample_rate: \d+", f"sample_rate: {rate}", config.read_text()))
                    sender.process.send_signal(1)
                    wait_until(lambda: sender.metric("vesta_agent_sample_rate") == rate, f"{rate} Hz are in force")
                config.write_text("agent:\n  profilin:\n    sample_rate: 5\n")
                sender.process.send_signal(1)
                wait_until(lambda: "configuration not reloaded" in sender.log(), "a broken file is refused")
                self.assertIn("profiling", sender.log())
                self.assertEqual(sender.stop(), 0)
                self.assertEqual(stored(server), sender.taken())


support.main()
