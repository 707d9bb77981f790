"""A server of ours fetches the /debug/pprof of a running Go program, as Prometheus would fetch its metrics."""

import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import sdk
import support

SOURCE = support.ROOT / "tests/programs/go"

CONFIG = """
scrape_configs:
  - job_name: shop
    scrape_interval: 2s
    static_configs:
      - targets: ["127.0.0.1:{port}"]
        labels: {{zone: east, secret: x}}
    file_sd_configs:
      - files: ["{folder}/targets-*.json"]
    relabel_configs:
      - {{action: labeldrop, regex: secret}}
"""


class Scrape(unittest.TestCase):
    def test_profiles_of_a_go_program_arrive(self):
        go = support.need_command("go")
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "burn"
            sdk.fetch([go, "build", "-o", binary, "."], "burn", cwd=SOURCE, env={**os.environ, "GOFLAGS": "-buildvcs=false"})
            program = subprocess.Popen([binary, "-profile", "server"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                port = int(program.stdout.readline())
                # A target in a file that nobody listens on: it is down, and the other is none the worse for it.
                (Path(folder) / "targets-a.json").write_text(
                    '[{"targets": ["127.0.0.1:1"], "labels": {"zone": "west"}}]')
                config = Path(folder) / "vesta.yaml"
                config.write_text(CONFIG.format(port=port, folder=folder))
                with sdk.Server("--config", config) as server:
                    wanted = {sdk.CPU, "memory:inuse_space:bytes:space:bytes", "memory:alloc_space:bytes:space:bytes"}
                    deadline = time.monotonic() + 60
                    while not wanted <= server.types():
                        self.assertLess(time.monotonic(), deadline, f"{server.types()}\n{server.log()}")
                        time.sleep(0.2)
                    everything = '{zone="east"}'
                    flame = server.flame(sdk.CPU, everything)
                    self.assertGreater(sdk.share(flame, "main.burn"), 0.5)
                    labels = server.connect("LabelNames", {"matchers": [everything], "start": 1, "end": 4102444800000})["names"]
                    self.assertNotIn("secret", labels)
                    self.assertIn("instance", labels)
                    targets = server.get("/api/v1/targets")["targets"]
                    health = {(target["labels"]["zone"], target["health"]) for target in targets if target["scrapes"]}
                    self.assertIn(("east", "up"), health)
                    self.assertIn(("west", "down"), health)
                    self.assertTrue(all(target["last_error"] for target in targets if target["health"] == "down"))
            finally:
                program.stdin.close()
                program.wait(timeout=30)
                program.stdout.close()


support.main()
