#!/usr/bin/env python3
"""`vesta up`: from nothing to named profiles of every process, on a machine that nobody prepared."""

import json
import os
import platform
import re
import time

import harness
from harness import RecordingTest, compile_program, running, support, wait_until

import agent  # noqa: E402  (found by harness)
from server import Server

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SAMPLES = "process_cpu:samples:count:cpu:nanoseconds"


class Up(Server):
    """A server that profiles its host, too."""

    def __init__(self, *options, **more):
        super().__init__(*options, **more)
        self.metrics_port = agent.free_port()

    def start(self):
        self.options = [*self.options, "--metrics", f"127.0.0.1:{self.metrics_port}"]
        return super().start()

    ROLE = "up"

    def services(self):
        now = int(time.time() * 1000)
        answer = self.connect("LabelValues", {"name": "service_name", "start": now - 3_600_000, "end": now + 60_000})
        return set(answer.get("names", []))

    def sum_of_samples(self):
        """Of all services."""
        return self.flame(SAMPLES, "{}")[1]


class UpTest(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        agent.need_sampling()
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def test_first_flame_graph(self):
        with running(self.shares):
            with Up() as up:
                began = time.monotonic()
                wait_until(lambda: "shares" in up.services(), "the victim is among the services")
                print(f"first profiles {time.monotonic() - began:.1f} s after the server was up")
                names, total = up.flame(CPU, '{service_name="shares"}')
                self.assertGreater(total, 0)
                self.assertIn("heavy", names)
                self.assertIn("main", names)
                self.assertIn("Vesta profiles this host: http://127.0.0.1:", up.log())

    def test_nothing_is_lost_at_the_end(self):
        with running(self.shares):
            with Up("--window", "1s", data=self.folder / "kept") as up:
                wait_until(lambda: "shares" in up.services(), "the victim is among the services")
                time.sleep(2)
                self.assertEqual(up.stop(), 0)
                taken = int(re.findall(r"profiled to the end samples=(\d+)", up.log())[-1])
                up.start()
                self.assertGreaterEqual(up.sum_of_samples(), taken)
                # What the second run has profiled so far is not older than its start.
                wait_until(lambda: up.sum_of_samples() > taken, "the second run adds its own")
                self.assertEqual(up.stop(), 0)
                both = sum(int(count) for count in re.findall(r"profiled to the end samples=(\d+)", up.log()))
                with Server(data=self.folder / "kept") as server:
                    self.assertEqual(server.flame(SAMPLES, "{}")[1], both)

    def test_labels_say_who_a_process_is(self):
        with running(self.shares) as victim:
            with Up("--window", "1s") as up:
                wait_until(lambda: "shares" in up.services(), "the victim is among the services")
                answer = up.get("/api/v1/series", query='{service_name="shares"}')
                labels = answer["series"][0]["labels"]
                self.assertEqual(labels["process.pid"], str(victim.pid))
                self.assertEqual(labels["process.executable.name"], "shares")
                self.assertIn("host.name", labels)
                text = json.dumps(answer)
                self.assertNotIn("PATH=", text)  # nothing of an environment

    def test_a_store_of_another_user_stays_writable(self):
        data = self.folder / "of-another"
        with Server(data=data):
            pass  # as an earlier installation left it
        for path in [data, *data.rglob("*")]:
            os.chown(path, 65534, 65534)
        with running(self.shares):
            with Up("--window", "1s", data=data) as up:
                wait_until(lambda: "shares" in up.services(), "the victim is among the services")
                # Privileges go once the agent runs: what comes after is written without the others.
                wait_until(lambda: "kept the privilege to write files of other users" in up.log(), "it is said")
                before = up.sum_of_samples()
                wait_until(lambda: up.sum_of_samples() > before, "more is stored")

    def test_pages_know_the_agent(self):
        with running(self.shares):
            with Up("--window", "1s") as up:
                wait_until(lambda: "shares" in up.services(), "the victim is among the services")
                # The first window may be stored before the agent has finished its start.
                answer = wait_until(lambda: (found := up.get("/api/v1/agents"))["local"] and found, "the agent is known")
                local = answer["local"]
                self.assertEqual(local["rate_configured_hz"], 99)
                self.assertGreater(local["samples"], 0)
                self.assertGreater(local["processes"], 1)
                self.assertEqual([exporter["name"] for exporter in local["exporters"]], ["in-process"])
                # The same from what is stored: this host, with what its profiles say of themselves.
                [host] = answer["agents"]
                self.assertEqual(host["host"], platform.node())
                self.assertIn("cpu", host["types"])
                self.assertGreater(host["total"], 0)
                self.assertGreater(host["rate_hz"], 0)
                self.assertGreater(host["complete"], 0.5)

    def test_a_second_one_is_refused(self):
        with Up():
            done = support.vesta("up", "--data", self.folder / "second", "--http", "127.0.0.1:0", "--grpc", "", "--otlp-http",
                                 "", "--metrics", "", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"process \d+")


if __name__ == "__main__":
    harness.main()
