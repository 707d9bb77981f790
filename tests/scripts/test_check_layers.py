"""The layering check finds what it should and nothing else."""

import re
import runpy
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

CHECKER = runpy.run_path(str(support.ROOT / "scripts" / "check-layers"))


class CheckLayers(unittest.TestCase):
    def check(self, files):
        """Runs the checker on a tree of {path under src/: [included path, ...]}; returns (exit code, output)."""
        with tempfile.TemporaryDirectory() as folder:
            for path, includes in files.items():
                file = Path(folder) / "src" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                lines = ["#pragma once", "#include <vector>"] + [f'#include "{i}"' for i in includes]
                file.write_text("\n".join(lines) + "\n")
            _, problems = CHECKER["check"](Path(folder))
            return (1 if problems else 0), "\n".join(problems)

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
        self.assert_allowed("ingest/report.cc", "formats/registry.h")
        self.assert_allowed("query/report.cc", "store/engine.h")

    def test_upper_layers_may_not_be_included(self):
        self.assert_refused("base/result.cc", "profile/tree.h")
        self.assert_refused("profile/tree.cc", "formats/folded/reader.h")
        self.assert_refused("formats/folded/reader.cc", "cli/top.h")
        self.assert_refused("symbols/elf.cc", "unwind/table.h")

    def test_formats_do_not_know_each_other(self):
        self.assert_refused("formats/pprof/reader.cc", "formats/otlp/reader.h")
        self.assert_allowed("formats/pprof/reader.cc", "formats/pprof/fields.h")

    def test_formats_share_the_helpers(self):
        self.assert_allowed("formats/pprof/reader.cc", "formats/common/compression.h")
        self.assert_allowed("formats/pprof/reader.cc", "formats/protobuf/wire.h")

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

    def test_a_folder_with_a_row_of_its_own_is_a_layer(self):
        self.assert_allowed("server/native/top_routes.cc", "server/api.h")
        self.assert_allowed("server/app/server_app.cc", "server/native/native_api.h")
        self.assert_allowed("cli/roles/server_role.cc", "server/native/native_api.h")
        self.assert_refused("server/api.cc", "server/native/native_api.h")
        self.assert_refused("server/native/top_routes.cc", "server/pyroscope/routes.h")

    def test_folders_below_a_row_belong_to_it(self):
        self.assert_allowed("store/rocksdb/query/select.cc", "store/selection.h")
        self.assert_refused("store/rocksdb/query/select.cc", "query/tree/flame_tree.h")

    def test_tests_may_use_a_server_of_their_own(self):
        self.assert_allowed("agent/export/sender_test.cc", "server/app/server_app.h")
        self.assert_allowed("agent/export/sender_test.cc", "ingest/ingest.h")
        self.assert_refused("agent/export/sender.cc", "server/app/server_app.h")

    def test_tests_of_every_layer_may_use_testing_and_nothing_else_may(self):
        self.assert_allowed("base/file_test.cc", "testing/temporary_folder.h")
        self.assert_allowed("agent/process/test_proc.h", "testing/temporary_folder.h")
        self.assert_allowed("store/testing/suite.cc", "testing/temporary_folder.h")
        self.assert_refused("base/file.cc", "testing/temporary_folder.h")
        self.assert_refused("cli/web/page.cc", "testing/temporary_folder.h")
        self.assert_refused("testing/temporary_folder.h", "profile/ids.h")

    def test_every_row_is_a_folder(self):
        table = CHECKER["LAYERS"]
        gone = [row for row in table if not (support.ROOT / "src" / row.removesuffix("/*")).is_dir()]
        self.assertEqual(gone, [])
        named = set().union(*table.values())
        self.assertEqual(named - set(table), set(), "a row may only list rows")

    def test_the_architecture_shows_the_same_table(self):
        shown = {}
        for line in (support.ROOT / "ARCHITECTURE.md").read_text().splitlines():
            cells = [re.findall("`([^`]+)`", cell) for cell in line.strip("|").split(" | ")]
            if line.startswith("| `src/") and len(cells) == 3:
                names = [name.removeprefix("src/") for name in cells[0]]
                # Those of one row include each other.
                shown.update({name: set(names) - {name} | set(cells[2]) for name in names})
        table = {name: below - {name} for name, below in CHECKER["LAYERS"].items()}
        self.maxDiff = None
        self.assertEqual(shown, table)

    def test_folders_of_the_agent_have_an_order(self):
        self.assert_allowed("agent/stream/sampling.cc", "agent/probes/probe.h")
        self.assert_allowed("agent/app/agent_app.cc", "agent/kernel/kernel_session.h")
        self.assert_allowed("cli/commands/record.cc", "agent/profiles/recording.h")
        self.assert_refused("agent/probes/cpu/cpu_probe.cc", "agent/stream/sampling.h")
        self.assert_refused("agent/kernel/kernel_session.cc", "agent/doctor/doctor.h")
        self.assert_refused("agent/export/uploader.cc", "agent/profiles/recording.h")
        self.assert_refused("runtimes/go/go_runtime.cc", "agent/naming/symbolizer.h")
        self.assert_refused("agent/other/thing.cc", "base/result.h")

    def test_an_unknown_folder_is_refused(self):
        self.assert_refused("helpers/misc.cc", "base/result.h")

    def test_an_include_that_names_no_file_is_refused(self):
        code, output = self.check({"profile/tree.cc": ["tree.h"], "profile/tree.h": []})
        self.assertEqual(code, 1)
        self.assertIn("there is no src/tree.h", output)


if __name__ == "__main__":
    support.main()
