"""The include check finds types whose header is far away, and nothing else."""

import runpy
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

CHECKER = runpy.run_path(str(support.ROOT / "scripts" / "check-includes"))

# Each includes the one after it.
HEADERS = {
    "a/close.h": '#include "a/near.h"\nclass Close {};\n',
    "a/near.h": '#include "a/middle.h"\nstruct Near { int n; };\n',
    "a/middle.h": '#include "a/far.h"\nenum class Middle { kOne };\n',
    "a/far.h": "class Far { public: struct Inner {}; };\nusing FarIds = int;\n",
}


class CheckIncludes(unittest.TestCase):
    def problems(self, text, more=None):
        with tempfile.TemporaryDirectory() as folder:
            for path, content in {**HEADERS, "b/user.cc": text, **(more or {})}.items():
                file = Path(folder) / "src" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
            return CHECKER["check"](Path(folder))[1]

    def assert_clean(self, text, more=None):
        self.assertEqual(self.problems(text, more), [])

    def test_a_type_that_comes_through_three_headers_is_found(self):
        self.assertEqual(
            self.problems('#include "a/close.h"\nFar far;\nFarIds ids;\n'),
            ['src/b/user.cc: needs #include "a/far.h" for Far, FarIds'],
        )

    def test_a_type_may_come_through_two_headers(self):
        self.assert_clean('#include "a/near.h"\nFar far;\n')
        self.assert_clean('#include "a/close.h"\nMiddle middle;\n')
        self.assert_clean('#include "a/close.h"\n#include "a/far.h"\nFar far;\n')

    def test_a_declared_type_needs_no_header(self):
        self.assert_clean('#include "a/close.h"\nclass Far;\nvoid f(Far* far);\n')

    def test_words_that_are_no_types_do_not_count(self):
        self.assert_clean('#include "a/close.h"\n// Far\nconst char* text = "Far";\nint n = a.Far + b->Far;\n')

    def test_a_name_with_two_meanings_does_not_count(self):
        self.assert_clean('#include "a/close.h"\nFar far;\n', {"c/other.h": "struct Far { int n; };\n"})

    def test_a_name_whose_header_is_not_included_means_something_else(self):
        self.assert_clean("#include <vector>\nFar far;\n")


if __name__ == "__main__":
    support.main()
