"""What Vesta writes as OTLP, judged by the official classes: no unknown field, every index in range, nothing there twice or
for nobody, entry 0 of each table empty."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import sdk  # noqa: E402
import support  # noqa: E402

JUDGE = Path(__file__).resolve().parent / "otlp" / "judge.py"
# Of several makers: with build ids and without, one sample type and several, a recording of several profiles.
PROFILES = ["cpp-cpu.pb.gz", "cpp-heap.pb.gz", "go-cpu.pb.gz", "go-heap.pb.gz", "java-jdk.jfr"]
FOLDED = "main;work;leaf 30\nmain;work 5\nmain;caf\u00e9;\U0001f40c 7\n"


class OtlpExport(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="vesta-otlp-export-")
        self.path = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def judge(self, source):
        target = self.path / "out.otlp"
        support.vesta("convert", source, "-o", target)
        done = subprocess.run([str(sdk.otlp_python()), str(JUDGE), str(target)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, f"{source}: {done.stderr}")
        return json.loads(done.stdout)

    def test_a_folded_profile(self):
        source = self.path / "x.folded"
        source.write_text(FOLDED, encoding="utf-8")
        self.assertEqual(sum(self.judge(source)["totals"].values()), 42)

    def test_real_profiles_keep_their_totals(self):
        for name in PROFILES:
            with self.subTest(name):
                source = support.profile(name)
                found = self.judge(source)
                report = json.loads(support.vesta("top", source, "-o", "json").stdout)
                self.assertIn(report["total"], found["totals"].values())


support.main()
