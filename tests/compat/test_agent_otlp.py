"""An agent that sends to receivers built on the official OTLP classes, by every way at once: each field decodes as meant."""

import hashlib
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "system")]
import agent  # noqa: E402
import sdk  # noqa: E402
import support  # noqa: E402
from harness import compile_program, running, wait_until  # noqa: E402

OTLP = Path(__file__).resolve().parent / "otlp"
CONFIG = """
agent:
  profiling:
    off_cpu: true
    duration: 1s
    upload_interval: 1s
  exporters:
    - {{type: otlp, name: grpc, endpoint: "127.0.0.1:{grpc}"}}
    - {{type: otlp_http, name: http, endpoint: "http://127.0.0.1:{http}"}}
    - {{type: otlp_logs, name: logs, endpoint: "http://127.0.0.1:{http}/v1/logs"}}
    - {{type: files, name: files, directory: "{files}"}}
"""


def content_hash(path):
    """The "htlhash" of OpenTelemetry's conventions."""
    data = path.read_bytes()
    return hashlib.sha256(data[:4096] + data[-4096:] + len(data).to_bytes(8, "big")).hexdigest()[:32]


class AgentOtlp(unittest.TestCase):
    def setUp(self):
        agent.need_sampling()
        home = tempfile.TemporaryDirectory(prefix="vesta-agent-otlp-")
        self.addCleanup(home.cleanup)
        self.folder = Path(home.name)
        (self.folder / "got").mkdir()

    def receive(self):
        receiver = subprocess.Popen([sdk.otlp_python(), str(OTLP / "receiver.py"), str(self.folder / "got"), "fail=2"],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (receiver.stdin.close(), receiver.wait(timeout=30), receiver.stdout.close()))
        return json.loads(receiver.stdout.readline())

    def got(self, kind):
        return sorted((self.folder / "got").glob(f"{kind}-*.pb"))

    def judge(self, paths):
        """What the official classes say of each message; fails on unknown fields and indexes that lead nowhere."""
        done = subprocess.run([sdk.otlp_python(), str(OTLP / "judge.py"), *map(str, paths)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_every_way_out(self):
        shares = compile_program(self.folder, "cpu/shares.c", "-Wl,--build-id=none")
        config = self.folder / "vesta.yaml"
        config.write_text(CONFIG.format(**self.receive(), files=self.folder / "files"))
        with running(shares) as victim:
            with agent.Agent("--config", config) as sender:
                for kind in ("grpc", "http", "logs"):
                    wait_until(lambda: len(self.got(kind)) >= 2, f"two messages by {kind}")
                self.assertEqual(sender.stop(), 0)
                taken = sender.taken()
        for kind in ("grpc", "http"):
            with self.subTest(kind):
                found = self.judge(self.got(kind))
                self.assertEqual(sum(message["totals"].get("samples", 0) for message in found), taken)
                self.assertGreater(sum(message["totals"].get("off_cpu", 0) for message in found), 0)
                self.assertGreater(sum(message["build_ids"] for message in found), 0)
                hashes = {message["content_hashes"].get(str(shares)) for message in found} - {None}
                self.assertEqual(hashes, {content_hash(shares)}, "the victim has no build id of its own")
        files = list((self.folder / "files").rglob("*.pb.gz"))
        self.assertGreater(len(files), 2)
        of_victim = [path for path in files if "shares" in path.name]
        report = json.loads(support.vesta("top", *of_victim, "-o", "json").stdout)
        self.assertIn("heavy", [row["name"] for row in report["rows"]])
        self.check_events(victim.pid, taken)

    def check_waits(self, events):
        waits = [event for event, _, _ in events if event["profileType"] == "off-cpu"]
        self.assertTrue(waits)
        self.assertEqual({event["eventType"] for event in waits}, {"ebpf.OffCPUSample"})
        self.assertTrue(all(event["durationNs"] > 0 for event in waits))

    def check_events(self, pid, taken):
        script = """
import json, sys
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
for path in sys.argv[1:]:
    request = ExportLogsServiceRequest()
    request.ParseFromString(open(path, "rb").read())
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                print(json.dumps([json.loads(record.body.string_value),
                                  {item.key: item.value.string_value or item.value.int_value for item in record.attributes},
                                  {item.key: item.value.string_value for item in resource.resource.attributes}]))
"""
        done = subprocess.run([sdk.otlp_python(), "-c", script, *map(str, self.got("logs"))], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.check_waits(events)
        events = [found for found in events if found[0]["profileType"] == "cpu"]
        self.assertEqual(sum(event["sampleWeight"] for event, _, _ in events), taken)
        ours = [(event, attributes) for event, attributes, _ in events if event.get("pid") == pid]
        self.assertTrue(ours)
        for event, attributes in ours:
            self.assertEqual(event["profileType"], "cpu")
            self.assertEqual(event["eventType"], "ebpf.CPUSample")
            self.assertEqual(event["serviceName"], "shares")
            frames = json.loads(event["stackTrace"]) if isinstance(event["stackTrace"], str) else event["stackTrace"]
            self.assertEqual(len(frames), event["stackDepth"])
            self.assertEqual(attributes["profile.type"], "cpu")
            self.assertEqual(attributes["process.pid"], pid)
            self.assertNotIn("process.command_line", event)
            # Kernel frames are the innermost ones.
            is_kernel = [bool(frame.get("isKernel")) for frame in frames]
            self.assertEqual(is_kernel, sorted(is_kernel, reverse=True))
        self.assertTrue(any("heavy" in event["stackPath"] for event, _ in ours))


if __name__ == "__main__":
    support.main()
