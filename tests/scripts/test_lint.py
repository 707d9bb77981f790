"""Which source clang-tidy reads a file with."""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402


class SourceOf(unittest.TestCase):
    def source_of(self, file):
        script = f"source scripts/lib.sh && source_of '{file}'"
        return subprocess.check_output(["bash", "-c", script], cwd=support.ROOT, text=True).strip()

    def test_a_source_is_its_own(self):
        self.assertEqual(self.source_of("src/base/file.cc"), "src/base/file.cc")

    def test_a_header_is_read_by_its_source_or_test(self):
        self.assertEqual(self.source_of("src/base/file.h"), "src/base/file.cc")
        self.assertEqual(self.source_of("src/base/text.h"), "src/base/text_test.cc")

    def test_another_header_is_read_by_a_source_that_includes_it(self):
        header = "agent/probes/test_switch_probe.h"
        source = self.source_of("src/" + header)
        self.assertTrue(source.endswith(".cc"), source)
        self.assertIn(f'#include "{header}"', (support.ROOT / source).read_text())

    def test_a_header_that_nothing_includes_is_read_by_itself(self):
        self.assertEqual(self.source_of("src/base/gone.h"), "src/base/gone.h")


if __name__ == "__main__":
    support.main()
