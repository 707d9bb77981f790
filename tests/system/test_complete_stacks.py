#!/usr/bin/env python3
"""Of the samples of live programs without frame pointers, at least 99.9 % reach the outermost frame."""

import contextlib
import subprocess

import harness
from harness import PROGRAMS, LiveRecording, RecordingTest, compile_program, running, wait_until

LEAST = 0.999  # of all samples
# Of each program: of its some 2000 samples, a few may fall into the moments when its tables were not loaded yet.
LEAST_OF_EACH = 0.995
CPU_SECONDS = 2  # of each program, recorded

PYTHON = """
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def words(n): return sorted((str(i * 7919 % n) for i in range(n)), key=lambda w: w[::-1])
while True:
    fib(16); json.loads(json.dumps(words(500))); re.sub(r"(a|b)+c", lambda m: m[0].upper(), "abababc" * 100)
"""
PERL = """
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
while (1) {
  my %h; fib(14); $h{$_ % 997} .= "x$_" for 1 .. 5000;
  my @s = sort { $h{$a} cmp $h{$b} } keys %h; (my $t = "abc" x 1000) =~ s/b(c)/$1$1/g;
}
"""


class CompleteStacks(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shapes = compile_program(cls.folder, "unwind/victim.cc", "-std=c++20", "-pthread", "-Wno-unused-result",
                                     name="shapes")
        cls.burn = compile_program(cls.folder, "cpp/burn.cc", name="burn")

    def loads(self):
        """Programs that go on until they are killed."""
        openssl = harness.stock("openssl")
        return {
            "python3": [harness.stock("python3"), "-c", PYTHON],
            "perl": [harness.stock("perl"), "-e", PERL],
            "xz": [harness.stock("xz"), "-6", "-T1", "-c"],
            "openssl rsa": [openssl, "speed", "-seconds", "600", "rsa2048"],
            "openssl sha": [openssl, "speed", "-seconds", "600", "-bytes", "1024", "-evp", "sha256"],
            "clang": [harness.stock("clang++"), "-O2", "-S", "-o", "/dev/null", PROGRAMS / "cpu/templates.cc"],
            "shapes": [self.shapes, "--count", "1000000000"],
            "burn": [self.burn, "cpu", "1000000"],
        }

    def record_loads(self):
        with contextlib.ExitStack() as stack:
            processes = {}
            noise = stack.enter_context(open("/dev/urandom", "rb"))
            for name, command in self.loads().items():
                processes[name] = stack.enter_context(running(*command, stdin=noise, stderr=subprocess.DEVNULL))
            for process in processes.values():
                harness.wait_for_cpu(process)
            pids = {name: process.pid for name, process in processes.items()}
            before = {name: harness.cpu_ns(pid) for name, pid in pids.items()}
            recording = LiveRecording("-F", "999", "-p", ",".join(map(str, pids.values())))
            try:
                for name, pid in pids.items():
                    wait_until(lambda: harness.cpu_ns(pid) > before[name] + CPU_SECONDS * 1e9,
                               f"{name} gets CPU", deadline=240)
            except BaseException:
                recording.kill()
                raise
            return recording.stop(), pids

    def test_live_loads_reach_the_outermost_frame(self):
        recorded, pids = self.record_loads()
        print(recorded.stderr)
        print(f"{recorded.summary}")
        failed = []
        for name, pid in pids.items():
            total = recorded.count(pid)
            whole = sum(sample.count for sample in recorded.of(pid) if sample.is_complete)
            print(f"{name}: {whole} of {total} complete ({whole / total:.4%})")
            self.assertGreater(total, 500, name)
            if whole < LEAST_OF_EACH * total:
                failed.append(name)
        self.assertGreaterEqual(recorded.count(), 8000)
        self.assertEqual(failed, [], f"\n{recorded.describe_incomplete(10)}")
        self.assertGreaterEqual(recorded.summary.complete, LEAST, recorded.stderr)
        # What it says is what it wrote.
        broken = sum(sample.count for sample in recorded.samples if not sample.is_complete)
        self.assertEqual(broken, recorded.incomplete, recorded.raw.comments)


if __name__ == "__main__":
    harness.main()
