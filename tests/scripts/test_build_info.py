"""cmake/build_info.cmake names the commit, and touches its file only when something changed."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

SCRIPT = support.ROOT / "cmake" / "build_info.cmake"


class BuildInfo(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.output = self.folder / "out" / "build_info.cc"
        self.output.parent.mkdir()
        self.source = self.folder / "source"
        self.source.mkdir()

    def git(self, *words):
        env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", GIT_AUTHOR_NAME="a",
                   GIT_AUTHOR_EMAIL="a@example.com", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.com")
        done = subprocess.run([support.need_command("git"), *words], cwd=self.source, env=env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def write(self):
        """Returns the text, and whether the file was written."""
        before = self.output.stat().st_mtime_ns if self.output.exists() else None
        env = dict(os.environ, GIT_CEILING_DIRECTORIES=str(self.folder))
        subprocess.run([support.need_command("cmake"), f"-DSOURCE={self.source}", f"-DOUTPUT={self.output}", "-DVERSION=1.2.3",
                        "-DBUILD=Release", "-DCOMPILER=GNU 12", "-P", SCRIPT], env=env, check=True, capture_output=True)
        return self.output.read_text(), self.output.stat().st_mtime_ns != before

    def test_outside_of_git_the_commit_is_unknown(self):
        text, _ = self.write()
        self.assertIn('{"1.2.3", "unknown", "Release", "GNU 12"}', text)

    def test_a_commit_is_named_and_writes_the_file_once(self):
        self.git("init", "-q")
        (self.source / "a").write_text("1")
        self.git("add", "a")
        self.git("commit", "-qm", "one")
        text, written = self.write()
        self.assertIn(f'"{self.git("rev-parse", "--short=12", "HEAD")}"', text)
        self.assertTrue(written)
        self.assertEqual(self.write(), (text, False))
        (self.source / "a").write_text("2")
        self.assertIn('-dirty"', self.write()[0])
        self.git("commit", "-qam", "two")
        text, written = self.write()
        self.assertIn(f'"{self.git("rev-parse", "--short=12", "HEAD")}"', text)
        self.assertTrue(written)


if __name__ == "__main__":
    support.main()
