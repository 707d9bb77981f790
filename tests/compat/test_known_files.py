#!/usr/bin/env python3
"""Files of other tools that vesta does not read: each is made by its tool, vesta names it, and the command that it prints
makes of it what vesta does read."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import harness
import support

C_PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
volatile double x;
void *keep[200];
__attribute__((noinline)) void heavy(void) { for (int i = 0; i < 200000000; i++) x += i; }
__attribute__((noinline)) void grab(void) {
  for (int i = 0; i < 200; i++) memset(keep[i] = malloc(10000), 1, 10000);
}
int main(void) { grab(); heavy(); return 0; }
"""

PYTHON_PROGRAM = """
keep = []
def heavy():
    return sum(i * i for i in range(300000))
def grab():
    keep.append(bytearray(10_000_000))
for _ in range(5):
    heavy()
    grab()
"""

NODE_PROGRAM = """
function heavy() { let s = 0; for (let i = 0; i < 3e7; i++) s += Math.sqrt(i); return s; }
const keep = (globalThis.keep = []);
function grab() { for (let i = 0; i < 3e5; i++) keep.push({i}); }
heavy(); grab(); heavy();
"""

RUBY_PROGRAM = """
require 'stackprof'
def heavy
  1_000_000.times { |i| Math.sqrt(i) }
end
StackProf.run(mode: :wall, interval: 1000, raw: true, out: 'stackprof.dump') { 3.times { heavy } }
"""

GO_PROGRAM = """package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var keep [][]byte

//go:noinline
func grab() {
	for i := 0; i < 100; i++ {
		keep = append(keep, make([]byte, 100000))
	}
}

func main() {
	runtime.MemProfileRate = 1
	grab()
	runtime.GC()
	for _, what := range []struct {
		name  string
		debug int
		file  string
	}{{"heap", 1, "heap.txt"}, {"goroutine", 1, "goroutine.txt"}, {"goroutine", 2, "dump.txt"}} {
		out, _ := os.Create(what.file)
		pprof.Lookup(what.name).WriteTo(out, what.debug)
		out.Close()
	}
}
"""


def library(name):
    """The path of a shared library for LD_PRELOAD."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], text=True, stdout=subprocess.PIPE, check=True).stdout
    found = re.search(rf"{re.escape(name)}\.so\S* .*=> (\S+)", listed)
    if not found:
        support.skip(f"{name} is not installed")
    return found[1]


def python_tool(package):
    """The folder of the programs of a package from PyPI, installed once beside the profiles."""
    folder = harness.PROFILES / "tools" / f"known-files-{package}"
    if not (folder / "bin" / package).exists():
        made = subprocess.run([sys.executable, "-m", "venv", folder], text=True, capture_output=True)
        if made.returncode == 0:
            made = subprocess.run([folder / "bin" / "pip", "install", "-q", package], text=True, capture_output=True)
        if made.returncode != 0:
            support.skip(f"{package} cannot be installed: {made.stderr.strip()[-200:]}")
    return folder / "bin"


class KnownFiles(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.path = [str(support.VESTA.parent)]

    def run_here(self, *command, **environment):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, text=True, capture_output=True,
                              timeout=120, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compile(self):
        (self.folder / "program.c").write_text(C_PROGRAM)
        self.run_here(support.need_command("gcc"), "-g", "-O1", "-fno-omit-frame-pointer", "program.c", "-o", "program")

    def hint_for(self, file, name):
        """What vesta says to do about the file, once it has named it."""
        done = harness.run_vesta("top", self.folder / file)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"this is {name}, which Vesta does not read", done.stderr)
        return re.search(r"^  hint: (.*)$", done.stderr, re.MULTILINE)[1]

    def convert(self, file, name, expected, then=None):
        """Runs the command that vesta prints, and looks for a function in what it reads afterwards."""
        command = self.hint_for(file, name).partition("convert it: ")[2]
        self.assertTrue(command)
        command = re.sub(r" \(it must .*\)$", "", command)
        command = re.sub(r"\bFILE\b", shlex.quote(file), command)
        command = re.sub(r"\bBINARY\b", "./program", command).replace("pip install flameprof; ", "")
        if then:
            command += f" && vesta top -n 0 {then}"
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=self.folder, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              env={**os.environ, "PATH": ":".join([*self.path, os.environ["PATH"]])})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        self.assertRegex(done.stdout, expected, command)

    def test_perf_data(self):
        perf = support.need_command("perf")
        self.compile()
        # -B: perf 6.1 dies of its build ids ("stack smashing detected") while an agent's BPF programs are loaded.
        done = subprocess.run([perf, "record", "-B", "-q", "-e", "cpu-clock", "-g", "-o", "perf.data", "./program"],
                              cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            support.skip(f"perf cannot record here: {done.stderr.strip()[-200:]}")
        self.convert("perf.data", "a perf.data file", r"\bheavy\b")

    def test_cpuprofile(self):
        node = support.need_command("node")
        (self.folder / "program.js").write_text(NODE_PROGRAM)
        self.run_here(node, "--cpu-prof", "--cpu-prof-name=n.cpuprofile", "program.js")
        self.convert("n.cpuprofile", "a CPU profile of V8 (.cpuprofile)", r"\bheavy\b")

    def test_heapprofile(self):
        node = support.need_command("node")
        (self.folder / "program.js").write_text(NODE_PROGRAM)
        self.run_here(node, "--heap-prof", "--heap-prof-name=n.heapprofile", "program.js")
        self.convert("n.heapprofile", "a heap profile of V8 (.heapprofile)", r"\bgrab\b")

    def test_heapsnapshot(self):
        node = support.need_command("node")
        self.run_here(node, "-e", "require('v8').writeHeapSnapshot('n.heapsnapshot')")
        self.assertIn("node --heap-prof", self.hint_for("n.heapsnapshot", "a heap snapshot of V8 (.heapsnapshot)"))

    def test_chrome_trace(self):
        node = support.need_command("node")
        self.run_here(node, "--trace-event-categories", "v8,node", "--trace-event-file-pattern", "trace.json", "-e", "1")
        self.assertIn("npx speedscope FILE", self.hint_for("trace.json", "a Chrome trace"))

    def test_callgrind(self):
        valgrind = support.need_command("valgrind")
        self.run_here(valgrind, "-q", "--tool=callgrind", "--callgrind-out-file=callgrind.out", "/bin/true")
        self.assertIn("npx speedscope FILE", self.hint_for("callgrind.out", "a callgrind file"))

    def test_cprofile(self):
        self.path.insert(0, str(python_tool("flameprof")))
        (self.folder / "program.py").write_text(PYTHON_PROGRAM)
        self.run_here(sys.executable, "-m", "cProfile", "-o", "c.prof", "program.py")
        self.convert("c.prof", "a profile of Python's cProfile", r"\bheavy\b")

    def test_memray(self):
        tools = python_tool("memray")
        self.path.insert(0, str(tools))
        (self.folder / "program.py").write_text(PYTHON_PROGRAM)
        self.run_here(tools / "memray", "run", "-q", "-o", "memray.bin", "program.py")
        self.convert("memray.bin", "a memray file", r"\bgrab\b")

    def test_gperftools_cpu(self):
        support.need_command("go")
        self.compile()
        self.run_here("./program", LD_PRELOAD=library("libprofiler"), CPUPROFILE="cpu.prof")
        self.convert("cpu.prof", "a CPU profile of gperftools", r"\bheavy\b", then="profile.pb.gz")

    def test_gperftools_heap(self):
        support.need_command("go")
        self.compile()
        self.run_here("./program", LD_PRELOAD=library("libtcmalloc"), HEAPPROFILE="./heap",
                      HEAP_PROFILE_ALLOCATION_INTERVAL="500000")
        file = sorted(self.folder.glob("heap.*.heap"))[0].name
        self.convert(file, "a heap profile of gperftools", r"\bgrab\b", then="profile.pb.gz")

    def test_jemalloc(self):
        support.need_command("jeprof")
        self.compile()
        self.run_here("./program", LD_PRELOAD=library("libjemalloc"),
                      MALLOC_CONF="prof:true,prof_final:true,lg_prof_sample:0,prof_prefix:jeprof")
        files = sorted(self.folder.glob("jeprof.*.heap"))
        if not files:
            support.skip("this jemalloc was built without its profiler")
        self.convert(files[0].name, "a heap profile of jemalloc", r"\bgrab\b")

    def test_heaptrack(self):
        heaptrack = support.need_command("heaptrack")
        self.compile()
        self.run_here(heaptrack, "-o", "heaptrack", "./program")
        file = next(self.folder.glob("heaptrack.*")).name
        self.convert(file, "a heaptrack file", r"\bgrab\b")

    def test_stackprof(self):
        support.need_command("stackprof")
        (self.folder / "program.rb").write_text(RUBY_PROGRAM)
        self.run_here("ruby", "program.rb")
        self.convert("stackprof.dump", "a dump of stackprof", r"\bheavy\b")

    def test_go_text(self):
        go = support.need_command("go")
        (self.folder / "main.go").write_text(GO_PROGRAM)
        self.run_here(go, "build", "-o", "program", "main.go", GO111MODULE="off")
        self.run_here("./program")
        self.convert("heap.txt", "a heap profile of Go as text (debug=1)", r"\bmain\.grab\b", then="profile.pb.gz")
        (self.folder / "profile.pb.gz").unlink()
        self.convert("goroutine.txt", "a profile of Go as text (debug=1)", r"\bmain\.main\b", then="profile.pb.gz")
        self.assertIn("without ?debug=2", self.hint_for("dump.txt", "a dump of goroutines as text (debug=2)"))

    def test_program(self):
        self.assertIn("vesta record", self.hint_for("/bin/true", "a program"))


if __name__ == "__main__":
    harness.main()
