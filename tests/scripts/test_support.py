"""A skipped test is reported as skipped, and as failed where everything must run."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402


class ExitCodes(unittest.TestCase):
    def run_python(self, code, require_all):
        env = dict(os.environ, PYTHONPATH=str(support.ROOT / "tests"), VESTA_REQUIRE_ALL=require_all)
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        return done.returncode

    def assert_exit_codes(self, code, usual, with_require_all):
        self.assertEqual(self.run_python(code, ""), usual)
        self.assertEqual(self.run_python(code, "0"), usual)
        self.assertEqual(self.run_python(code, "1"), with_require_all)

    def cases(self, *bodies):
        methods = "".join(f"  def test_{i}(self): {body}\n" for i, body in enumerate(bodies))
        return f"import unittest, support\nclass T(unittest.TestCase):\n  pass\n{methods}support.main()\n"

    def test_skip(self):
        self.assert_exit_codes("import support; support.skip('why')", 77, 1)

    def test_missing_command(self):
        self.assert_exit_codes("import support; support.need_command('no-such-command')", 77, 1)

    def test_cases_that_pass(self):
        self.assert_exit_codes(self.cases("pass"), 0, 0)

    def test_cases_that_fail(self):
        self.assert_exit_codes(self.cases("pass", "self.fail()"), 1, 1)

    def test_cases_that_skip(self):
        self.assert_exit_codes(self.cases("self.skipTest('why')"), 77, 1)
        self.assert_exit_codes(self.cases("self.skipTest('why')", "pass"), 0, 1)
        self.assert_exit_codes(self.cases("support.need_command('no-such-command')", "pass"), 0, 1)
        self.assert_exit_codes(self.cases("support.need_command('no-such-command')", "self.fail()"), 1, 1)

    def test_a_class_that_skips(self):
        code = ("import unittest, support\nclass T(unittest.TestCase):\n  @classmethod\n"
                "  def setUpClass(cls): support.skip('why')\n  def test_a(self): pass\nsupport.main()\n")
        self.assert_exit_codes(code, 77, 1)

    def test_no_cases_are_a_failure(self):
        self.assert_exit_codes(self.cases(), 1, 1)


if __name__ == "__main__":
    support.main()
