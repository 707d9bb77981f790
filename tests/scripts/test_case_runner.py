"""The runner of text cases passes what is right and fails what is wrong."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

RUNNER = support.ROOT / "tests" / "cases" / "run"

# Stands in for vesta: prints its arguments, one a line, and exits with the code that follows "exit".
FAKE_VESTA = """#!/bin/sh
for a in "$@"; do
  case "$a" in
    exit) shift $(($# - 1)); exit "$1" ;;
    err) echo "to stderr" >&2 ;;
    *) echo "$a" ;;
  esac
done
"""


class CaseRunner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        vesta = self.path / "fake-vesta"
        vesta.write_text(FAKE_VESTA)
        vesta.chmod(0o755)

    def run_case(self, text, *options):
        """Returns (exit code, output, the case file afterwards)."""
        case = self.path / "one.case"
        case.write_text(textwrap.dedent(text))
        env = dict(os.environ, VESTA=str(self.path / "fake-vesta"))
        done = subprocess.run(
            [sys.executable, RUNNER, *options, str(case)], env=env, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr, case.read_text()

    def assert_passes(self, text):
        code, output, _ = self.run_case(text)
        self.assertEqual(code, 0, output)

    def assert_fails(self, text, *messages):
        code, output, _ = self.run_case(text)
        self.assertEqual(code, 1, output)
        for message in messages:
            self.assertIn(message, output)

    def test_output_and_exit_code_must_match(self):
        self.assert_passes("$ vesta a b\na\nb\n")
        self.assert_passes("$ vesta a err\na\nto stderr\n\n$ vesta exit 3\n[exit 3]\n")
        self.assert_fails("$ vesta a b\na\n", "+b", "one.case:1: $ vesta a b")
        self.assert_fails("$ vesta a\na\nb\n", "-b")
        self.assert_fails("$ vesta exit 3\n", "+[exit 3]")
        self.assert_fails("$ vesta a\na\n[exit 1]\n", "-[exit 1]")

    def test_a_signal_is_not_a_pass(self):
        self.assert_fails("$ kill -SEGV $$\n", "+[exit 139]")

    def test_wildcards_match_any_number_of_lines(self):
        self.assert_passes("$ vesta a b c\n...\n")
        self.assert_passes("$ vesta a b c\na\n...\nc\n")
        self.assert_passes("$ vesta a b c b d\n...\nb\nd\n")
        self.assert_passes("$ vesta a\n...\na\n...\n")
        self.assert_fails("$ vesta a b c\n...\nb\n")

    def test_regular_expressions_match_within_a_line(self):
        self.assert_passes("$ vesta 'took 12 ms (a+b)'\ntook {{[0-9]+}} ms (a+b)\n")
        self.assert_fails("$ vesta 'took 12 ms!'\ntook {{[0-9]+}} ms\n")
        self.assert_fails("$ vesta x\n{{(}}\n", "not a valid regular expression")

    def test_inline_files_comments_and_continued_commands(self):
        self.assert_passes(
            """\
            # A comment.
            <<< sub/in.folded
            # not a comment
            a;b 1
            >>>
            $ cat sub/in.folded |
            >   wc -l
            2

            # Escaped lines are output.
            $ cat sub/in.folded
            \\# not a comment
            a;b 1
            """
        )

    def test_commands_share_a_scratch_folder(self):
        self.assert_passes("$ vesta one > made\n$ cat made\none\n")

    def test_malformed_cases_are_failures(self):
        self.assert_fails("<<< file\nnever closed\n", "no closing '>>>'")
        self.assert_fails("<<< ../file\n>>>\n$ vesta\n", "relative file name")
        self.assert_fails("stray\n$ vesta\n", "output before any")
        self.assert_fails("# nothing\n", "no '$ command'")

    def test_update_rewrites_only_what_differs_and_keeps_patterns(self):
        before = "# Why.\n$ vesta a\na\n\n$ vesta 1 b '# c' exit 2\n{{[0-9]}}\nold\n\n$ vesta z\n...\n"
        code, _, after = self.run_case(before, "--update")
        self.assertEqual(code, 0)
        self.assertEqual(
            after,
            "# Why.\n$ vesta a\na\n\n$ vesta 1 b '# c' exit 2\n{{[0-9]}}\nb\n\\# c\n[exit 2]\n\n$ vesta z\n...\n",
        )
        code, output, unchanged = self.run_case(after, "--update")
        self.assertEqual((code, unchanged), (0, after), output)


if __name__ == "__main__":
    support.main()
