"""`go tool pprof` reads a URL of a server of ours, and sees what was pushed."""

import os
import re
import subprocess
import tempfile
import time
import unittest
from urllib.parse import urlencode

import harness
import sdk
import support


class PprofUrl(unittest.TestCase):
    def test_top_of_a_merge_url_is_the_top_of_the_file(self):
        harness.need_pprof()
        path = harness.profile("go-cpu.pb.gz")
        with sdk.Server() as server, tempfile.TemporaryDirectory() as folder:
            now = time.time_ns()
            query = urlencode({"service_name": "burn", "time": now - 60_000_000_000, "labels": "zone=a"})
            status, _, body = server.request(f"/api/v1/profiles?{query}", path.read_bytes())
            self.assertEqual(status, 200, body)
            url = f"{server.url}/api/v1/pprof?" + urlencode({"query": 'cpu{service_name="burn"}', "from": "now-1h", "to": "now"})
            environment = {**os.environ, "PPROF_TMPDIR": folder}

            def top(source):
                done = subprocess.run(["go", "tool", "pprof", "-top", *harness.ALL_ROWS, "-sample_index=cpu", "-unit=ns", source],
                                      capture_output=True, text=True, timeout=120, env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                rows = re.findall(r"^\s*(\d+)(?:ns)?\s+\S+%\s+\S+%\s+(\d+)(?:ns)?\s+\S+%\s+(.*)$", done.stdout, re.M)
                return {re.sub(r" \((partial-)?inline\)$", "", name): (int(flat), int(cum)) for flat, cum, name in rows}

            expected, found = top(str(path)), top(url)
            self.assertGreater(len(expected), 8)
            self.assertEqual(found, expected)


support.main()
