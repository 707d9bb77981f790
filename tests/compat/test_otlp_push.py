"""OTLP profiles from the official classes and the official gRPC stub, to a server of ours: both ports, every encoding."""

import json
import os
import subprocess
import unittest
from pathlib import Path

import sdk
import support

MESSAGES = Path(__file__).resolve().parent / "otlp" / "messages.py"
CPU = sdk.CPU
# Of each kind: the type, and what each function has by itself.
TRUTH = {
    "on_cpu": (CPU, {"parse": 7 * 50_000_000, "serve": 2 * 50_000_000, "main": 3 * 50_000_000}),
    "off_cpu": ("off_cpu:off_cpu:nanoseconds::", {"wait": 12_000_000, "read": 1_000_000}),
}


class OtlpPush(unittest.TestCase):
    def test_every_way_in_leads_to_the_same_profile(self):
        interpreter = sdk.otlp_python()
        ways = [("grpc", "grpc"), ("grpc-gzip", "grpc"), ("http", "otlp_url"), ("http-gzip", "url"), ("http-json", "url")]
        for how, port in ways:
            with sdk.Server() as server:
                for kind, (type_id, flat) in TRUTH.items():
                    with self.subTest(how=how, kind=kind):
                        done = subprocess.run([str(interpreter), str(MESSAGES), "push", kind, how, getattr(server, port)],
                                              capture_output=True, text=True, timeout=120, env={**os.environ})
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertEqual(json.loads(done.stdout), {}, "nothing was rejected")
                        self.assertIn(type_id, server.types())
                        names, total = server.flame(type_id, '{service_name="shop"}')
                        self.assertEqual(total, sum(flat.values()))
                        self.assertEqual({name: value[0] for name, value in names.items() if value[0]}, flat)


support.main()
