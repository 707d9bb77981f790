"""The layering check finds what it should and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

CHECKER = support.ROOT / "scripts" / "check-layers"


class CheckLayers(unittest.TestCase):
    def check(self, files):
        """Runs the checker on a tree of {path under src/: [included path, ...]}; returns (exit code, output)."""
        with tempfile.TemporaryDirectory() as folder:
            for path, includes in files.items():
                file = Path(folder) / "src" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                lines = ["#pragma once", "#include <vector>"] + [f'#include "{i}"' for i in includes]
                file.write_text("\n".join(lines) + "\n")
            done = subprocess.run(
                [sys.executable, CHECKER, "--root", folder], capture_output=True, text=True
            )
            return done.returncode, done.stdout

    def assert_allowed(self, source, target):
        code, output = self.check({source: [target], target: []})
        self.assertEqual(code, 0, output)

    def assert_refused(self, source, target):
        code, output = self.check({source: [target], target: []})
        self.assertEqual(code, 1, f"{source} -> {target} went through\n{output}")
        self.assertIn(f"src/{source}:3: ", output)

    def test_lower_layers_may_be_included_also_through_others(self):
        self.assert_allowed("profile/tree.cc", "base/result.h")
        self.assert_allowed("unwind/table.cc", "base/result.h")
        self.assert_allowed("cli/top.cc", "formats/pprof/reader.h")
        self.assert_allowed("query/report.cc", "formats/registry.h")

    def test_upper_layers_may_not_be_included(self):
        self.assert_refused("base/result.cc", "profile/tree.h")
        self.assert_refused("profile/tree.cc", "formats/folded/reader.h")
        self.assert_refused("formats/folded/reader.cc", "cli/top.h")
        self.assert_refused("symbols/elf.cc", "unwind/table.h")
        self.assert_refused("preload/alloc.cc", "base/result.h")

    def test_formats_do_not_know_each_other(self):
        self.assert_refused("formats/pprof/reader.cc", "formats/otlp/reader.h")
        self.assert_allowed("formats/pprof/reader.cc", "formats/pprof/fields.h")

    def test_formats_share_the_helpers(self):
        self.assert_allowed("formats/pprof/reader.cc", "formats/common/compression.h")
        self.assert_allowed("formats/pprof/reader.cc", "formats/protobuf/wire.h")
        self.assert_allowed("formats/speedscope/reader.cc", "formats/json/parse.h")

    def test_helpers_do_not_know_formats(self):
        self.assert_refused("formats/common/compression.cc", "formats/pprof/reader.h")

    def test_the_registry_knows_all_formats(self):
        self.assert_allowed("formats/registry.cc", "formats/pprof/reader.h")
        self.assert_allowed("formats/registry.cc", "formats/common/compression.h")

    def test_tests_of_a_format_may_use_other_formats_but_not_upper_layers(self):
        self.assert_allowed("formats/pprof/round_trip_test.cc", "formats/otlp/reader.h")
        self.assert_allowed("formats/pprof/pprof_fuzz.cc", "formats/otlp/writer.h")
        self.assert_refused("formats/pprof/round_trip_test.cc", "cli/top.h")
        self.assert_refused("profile/tree_test.cc", "formats/otlp/reader.h")

    def test_an_unknown_folder_is_refused(self):
        self.assert_refused("helpers/misc.cc", "base/result.h")

    def test_an_include_that_names_no_file_is_refused(self):
        code, output = self.check({"profile/tree.cc": ["tree.h"], "profile/tree.h": []})
        self.assertEqual(code, 1)
        self.assertIn("there is no src/tree.h", output)


if __name__ == "__main__":
    support.main()
