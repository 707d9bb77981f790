"""A Go program with Pyroscope's SDK for Go pushes to a server of ours."""

import base64
import json
import os
import tempfile
import unittest
from pathlib import Path

import sdk
import support


ALLOCATED = "memory:alloc_space:bytes:space:bytes"


def client():
    go = support.need_command("go")
    sdk.TOOLS.mkdir(parents=True, exist_ok=True)
    binary = sdk.TOOLS / "go-client"
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false -mod=readonly"}
    sdk.fetch([go, "build", "-o", binary, "."], "pyroscope-go", cwd=sdk.CLIENTS / "go", env=environment)
    return binary


def push(server, profile, **labels):
    """As Alloy and profilecli do it; returns the answer."""
    body = {"series": [{"labels": [{"name": name, "value": value} for name, value in labels.items()],
                        "samples": [{"rawProfile": base64.b64encode(profile).decode()}]}]}
    status, _, answer = server.request("/push.v1.PusherService/Push", json.dumps(body).encode(),
                                       headers={"Content-Type": "application/json"})
    assert status == 200, answer
    return json.loads(answer)


class Go(unittest.TestCase):
    def test_heaps_count_once_however_they_are_pushed(self):
        """Differences of godeltaprof add up; the one heap of Go's runtime, pushed alone, is there as it is."""
        binary = client()
        with sdk.Server() as server, tempfile.TemporaryDirectory() as folder:
            result = sdk.run([binary, "heaps", folder])
            read = lambda name: (Path(folder) / name).read_bytes()  # noqa: E731
            everything = result["first_bytes"] + result["second_bytes"]

            def allocated(service):
                flame, _ = server.flame(ALLOCATED, f'{{service_name="{service}"}}')
                return flame["main.keepBlocks"][1] / everything

            for name in ("delta1", "delta2"):
                self.assertEqual(push(server, read(name), __name__="godeltaprof_memory", service_name="by-name"), {})
                self.assertEqual(push(server, read(name), __name__="memory", __delta__="false", service_name="by-label"), {})
            self.assertEqual(push(server, read("heap"), __name__="memory", service_name="alone"), {})
            for service in ("by-name", "by-label", "alone"):
                with self.subTest(service=service):
                    self.assertAlmostEqual(allocated(service), 1, delta=0.02)

    def test_all_types_arrive_with_their_labels_and_totals(self):
        binary = client()
        with sdk.Server() as server:
            result = sdk.run([binary, server.url])
            types = server.types()
            for wanted in (sdk.CPU, "process_cpu:samples:count:cpu:nanoseconds",
                           ALLOCATED, "memory:inuse_space:bytes:space:bytes",
                           "memory:alloc_objects:count:space:bytes", "memory:inuse_objects:count:space:bytes",
                           "mutex:contentions:count:contentions:count", "mutex:delay:nanoseconds:contentions:count",
                           "block:contentions:count:contentions:count", "block:delay:nanoseconds:contentions:count"):
                self.assertIn(wanted, types)
            self.assertTrue(any(name.startswith("goroutine") for name in types), types)
            everything = '{service_name="compat.go"}'
            sdk.check_burn(self, server, sdk.CPU, everything, result["cpu_ns"])
            # Tags of the application and of the code that ran are labels one can ask for.
            self.assertEqual(server.connect("LabelValues", {
                "name": "path", "matchers": [everything], "start": 1, "end": 4102444800000})["names"],
                ["/heavy", "/light"])
            heavy = server.flame(sdk.CPU, '{service_name="compat.go", region="north", path="/heavy"}')
            self.assertGreater(sdk.share(heavy, "main.heavy"), 0.9)
            # A gauge is averaged over time: three readings or more would be three times as much. The first ones may be from before
            # the collection that Go's heap profile is as of.
            flame, total = server.flame("memory:inuse_space:bytes:space:bytes", everything)
            kept = flame["main.keepBlocks"][1]
            self.assertGreater(kept / result["kept_bytes"], 0.2)
            self.assertLess(kept / result["kept_bytes"], 1.2)
            # The SDK sends differences: the sum is what was allocated.
            flame, total = server.flame(ALLOCATED, everything)
            self.assertAlmostEqual(flame["main.keepBlocks"][1] / result["kept_bytes"], 1, delta=0.2)


support.main()
