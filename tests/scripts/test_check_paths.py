"""The check of paths finds names of files that do not exist, and nothing else."""

import runpy
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

CHECKER = runpy.run_path(str(support.ROOT / "scripts" / "check-paths"))


class CheckPaths(unittest.TestCase):
    def problems(self, files):
        """Of a checkout with these files: {path: text}."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            for path, text in files.items():
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return CHECKER["check"](Path(folder))[1]

    def assert_found(self, path, text):
        tree = {"src/base/result.h": "", "docs/guide/agent.md": "", path: text}
        self.assertEqual(self.problems(tree), [])

    def assert_missing(self, path, text, word):
        tree = {"src/base/result.h": "", "docs/guide/agent.md": "", path: text}
        self.assertEqual(self.problems(tree), [f"{path}:1: there is no {word}"])

    def test_names_from_the_top_and_below(self):
        self.assert_found("src/base/a.cc", "// See src/base/result.h, base/result.h, result.h and docs/guide.\n")
        self.assert_missing("src/base/a.cc", "// See src/base/results.h.\n", "src/base/results.h")
        self.assert_missing("src/base/a.cc", "// See store/result.h.\n", "store/result.h")
        self.assert_missing("src/base/a.cc", "// as docs/manual says\n", "docs/manual")

    def test_a_path_from_the_top_is_the_whole_path(self):
        self.assert_missing("README.md", "In `docs/agent.md`.\n", "docs/agent.md")

    def test_links_are_seen_from_the_file(self):
        self.assert_found("docs/decisions/one.md", "[agent](../guide/agent.md#start)\n")
        self.assert_missing("docs/decisions/one.md", "[agent](../agent.md)\n", "../agent.md")

    def test_patterns_match_something(self):
        self.assert_found("README.md", "`src/base/*.h`\n")
        self.assert_missing("README.md", "`src/base/*.cc`\n", "src/base/*.cc")

    def test_code_examples_and_others_files_do_not_count(self):
        self.assert_found("src/base/a.cc", 'auto text = "src/base/results.h";\n')
        self.assert_found("src/base/a.cc", "// https://example.com/src/gone.h /usr/include/gone.h linux/bpf.h NAME.bpf.c\n")
        self.assert_found("README.md", "```\nsrc/gone.h\n```\n")


if __name__ == "__main__":
    support.main()
