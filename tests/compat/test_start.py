#!/usr/bin/env python3
"""What a start of a command costs: the libraries that are mapped, and memory. CPU time is in `scripts/bench start`."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import support  # noqa: E402

MAX_LIBRARIES = 14
MAX_RSS_KB = 15 * 1024


class Start(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.vesta = str(Path(cls.folder.name) / "vesta")
        # A copy that was read from disk: of a file that was just written, the kernel may map whole large pages at every
        # fault, as no installed program has it. Without debug information it is soon copied.
        subprocess.run(["objcopy", "--strip-debug", support.VESTA, cls.vesta], check=True)
        descriptor = os.open(cls.vesta, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
        cls.profile = Path(cls.folder.name) / "small.folded"
        cls.profile.write_text("main;work;inner 3\nmain;idle 4\n")

    def commands(self):
        return [["version"], ["--help"], ["top", self.profile], ["flame", self.profile], ["diff", self.profile, self.profile],
                ["config", "show"]]

    def test_few_libraries_are_mapped(self):
        for words in self.commands():
            with self.subTest(command=words[0]):
                done = subprocess.run([self.vesta, *words], capture_output=True, text=True, check=True,
                                      env={**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": self.folder.name + "/ld"})
                self.assertTrue(done.stdout)
                traces = list(Path(self.folder.name).glob("ld.*"))
                loaded = {line.split("file=")[1].split()[0] for trace in traces for line in trace.read_text().splitlines()
                          if "generating link map" in line}
                for trace in traces:
                    trace.unlink()
                self.assertTrue(loaded)
                self.assertLessEqual(len(loaded), MAX_LIBRARIES, sorted(loaded))
                for heavy in ("grpc", "rocksdb", "curl", "protobuf", "absl"):
                    self.assertFalse([name for name in loaded if heavy in name])

    def test_memory(self):
        if not shutil.which("/usr/bin/time"):
            support.skip("needs the package time")
        for words in self.commands():
            with self.subTest(command=words[0]):
                # Started by a small program: what a process held before exec() counts, too.
                used = []
                for _ in range(5):
                    done = subprocess.run(["/usr/bin/time", "-f", "%M", self.vesta, *words], stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE, text=True, check=True)
                    used.append(int(done.stderr.split()[-1]))
                self.assertLessEqual(min(used), MAX_RSS_KB, used)


if __name__ == "__main__":
    support.main()
