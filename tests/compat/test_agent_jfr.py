"""JFR folders: a recording of a real JVM that appears in a watched folder is shipped once, as profiles and as log events."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "system")]
import agent  # noqa: E402
import sdk  # noqa: E402
import support  # noqa: E402
import test_agent_otlp as otlp  # noqa: E402
from harness import wait_until  # noqa: E402

CONFIG = """
agent:
  profiling: {{enabled: false, upload_interval: 1s}}
  exporters:
    - {{type: otlp, name: server, endpoint: "{server}"}}
profiles:
  jfr:
    enabled: true
    input_dirs: ["{inbox}"]
    direct_export:
      log_export:
        enabled: true
        endpoint: "http://127.0.0.1:{http}/v1/logs"
"""
EVENTS = """
import json, sys
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
for path in sys.argv[1:]:
    request = ExportLogsServiceRequest()
    request.ParseFromString(open(path, "rb").read())
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                print(record.body.string_value)
"""


class AgentJfr(unittest.TestCase):
    def test_a_recording_is_shipped_once(self):
        recording = support.profile("java-jdk.jfr")
        truth = json.loads(support.vesta("top", recording, "-t", "cpu", "-o", "json").stdout)
        home = tempfile.TemporaryDirectory(prefix="vesta-agent-jfr-")
        self.addCleanup(home.cleanup)
        folder = Path(home.name)
        (folder / "got").mkdir()
        inbox = folder / "inbox"
        inbox.mkdir()
        receiver = subprocess.Popen([sdk.otlp_python(), str(otlp.OTLP / "receiver.py"), str(folder / "got")], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (receiver.stdin.close(), receiver.wait(timeout=30), receiver.stdout.close()))
        ports = json.loads(receiver.stdout.readline())
        with sdk.Server() as server:
            config = folder / "vesta.yaml"
            config.write_text(CONFIG.format(server=server.grpc, inbox=inbox, http=ports["http"]))
            with agent.Agent("--config", config, state=folder / "state") as watcher:
                shutil.copy(recording, inbox / "checkout.jfr.part")
                (inbox / "checkout.jfr.part").rename(inbox / "checkout.jfr")
                wait_until(lambda: watcher.metric("vesta_agent_jfr_files_shipped_total") == 1, "the recording is shipped")
                wait_until(lambda: list((folder / "got").glob("logs-*.pb")), "events arrive")
                self.assertEqual(watcher.stop(), 0)
                types = server.types()
                cpu = next(kind for kind in types if kind.split(":")[1] in ("cpu", "itimer") or kind.startswith("process_cpu:cpu"))
                start = int(time.time() * 1000) - 400 * 86_400_000
                first = server.flame(cpu, "{}", start_ms=start)[1]
                self.assertEqual(first, truth["total"])
                # It is known after a restart, under another name, too.
                shutil.copy(recording, inbox / "again.jfr.part")
                (inbox / "again.jfr.part").rename(inbox / "again.jfr")
                watcher.start()
                wait_until(lambda: watcher.metric("vesta_agent_jfr_files_known_total") >= 1, "the folder is looked through")
                self.assertEqual(watcher.metric("vesta_agent_jfr_files_shipped_total"), 0)
                self.assertEqual(watcher.stop(), 0)
                self.assertEqual(server.flame(cpu, "{}", start_ms=start)[1], first)
        done = subprocess.run([sdk.otlp_python(), "-c", EVENTS, *map(str, (folder / "got").glob("logs-*.pb"))], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertTrue(events)
        kinds = {event.get("profileType") or event.get("profile.type") for event in events}
        self.assertIn("cpu", kinds)
        for event in events:
            frames = event["stack_trace"]["frames"] if "stack_trace" in event else json.loads(event["stackTrace"])
            # The JVM itself allocates without a stack now and then.
            if event.get("profileType") == "cpu":
                self.assertTrue(frames, f"frames are always there: {event}")
                self.assertTrue(event["topMethod"] and event["topClass"] and event["threadName"], event)


if __name__ == "__main__":
    support.main()
