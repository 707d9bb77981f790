"""What the system tests share: victims, recordings of live programs, and profiles as plain data.

Everything here needs a kernel that lets this user load BPF programs; where it does not, tests skip with the reason that
vesta gives. Judgements are about counts of samples, never about wall time: the machine may be busy.
"""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / "tests"), str(REPOSITORY / "tests/compat")]

import pprof_proto  # noqa: E402
import support  # noqa: E402

PROGRAMS = REPOSITORY / "tests/programs"
DEADLINE = 60  # seconds, for anything that should take far less
# As Debian builds: optimised, no frame pointers, a build id.
DEBIAN_FLAGS = ["-O2", "-g", "-fomit-frame-pointer", "-Wall", "-Wextra", "-Werror", "-Wl,--build-id=sha1"]
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_cache = tempfile.TemporaryDirectory(prefix="vesta-cache-")


def die_with_parent():
    """A victim never outlives its test, not even one that is killed."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def environment(**more):
    """Unwind tables in an own cache, no symbol servers, no sudo unless a test says so."""
    left_out = ("SUDO_UID", "SUDO_GID", "DEBUGINFOD_URLS", "XDG_CACHE_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "XDG_CACHE_HOME": _cache.name, **more}


def wait_until(condition, what, deadline=DEADLINE):
    """Polls; returns the first true value."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline} s for: {what}")
        time.sleep(0.01)


def compile_program(folder, source, *flags, name=None, compiler=None):
    """Builds a program of tests/programs; returns its path."""
    source = PROGRAMS / source
    compiler = compiler or ("g++" if source.suffix == ".cc" else "gcc")
    out = Path(folder) / (name or source.stem)
    subprocess.run([support.need_command(compiler), *DEBIAN_FLAGS, source, "-o", out, *flags], check=True)
    return out


@contextlib.contextmanager
def running(*command, **options):
    """A program that runs as long as the block does; its standard output is dropped unless asked for."""
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.Popen([str(word) for word in command], preexec_fn=die_with_parent, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()


def cpu_ns(pid):
    """CPU time that the threads of a process which still run have had so far, to the nanosecond: all of them, as a
    runtime may move a program's work from one to another."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            total += int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])
    return total


def wait_for_cpu(process, seconds=0.05):
    """Until the program is past its start and burns."""
    wait_until(lambda: cpu_ns(process.pid) > seconds * 1e9, f"{process.args[0]} uses CPU")


def wait_for_more_cpu(process, seconds):
    """Until the program has burnt so much from now on: within a recording that has begun."""
    wait_for_cpu(process, cpu_ns(process.pid) / 1e9 + seconds)


@dataclass
class Summary:
    samples: int
    complete: float  # shares, 0 to 1; None when there was nothing to count
    named: float
    lost: int

    @staticmethod
    def parse(text):
        counted = re.search(r" in ([\d,]+) samples \(", text)
        covered = re.search(r"complete stacks (\S+), named frames (\S+), lost ([\d,]+)", text)
        if not counted or not covered:
            raise AssertionError(f"there is no summary in: {text!r}")

        def number(word):
            return int(word.replace(",", ""))

        def share(word):
            return None if word == "–" else float(word.rstrip("%")) / 100

        return Summary(number(counted[1]), share(covered[1]), share(covered[2]), number(covered[3]))


class Frame(tuple):
    """(function, file, line)"""
    name = property(lambda self: self[0])
    file = property(lambda self: self[1])
    line = property(lambda self: self[2])


class Sample:
    """One stack with the number of times it was sampled; frames leaf first, inlined ones apart."""

    def __init__(self, raw):
        self.count, self.cpu_ns = raw.values
        self.frames = [Frame(frame) for location in raw.stack for frame in location]
        self.names = [frame.name for frame in self.frames]
        self.labels = {key: values[0] for key, values in raw.labels.items()}
        self.pid = self.labels.get("pid")
        self.process = self.labels.get("process")

    @property
    def is_complete(self):
        return not any(name.startswith(("[incomplete", "[truncated", "[lost")) for name in self.names)


class Recorded:
    """A finished `vesta record`: what it said, and its profile."""

    def __init__(self, stderr, path):
        self.stderr = stderr
        self.summary = Summary.parse(stderr)
        self.raw = pprof_proto.read(path)
        self.samples = [Sample(sample) for sample in self.raw.samples]
        self.incomplete = sum(int(comment.split()[1]) for comment in self.raw.comments
                              if comment.startswith("vesta.loss:") and "incomplete stack" in comment)

    def of(self, pid=None, process=None):
        return [sample for sample in self.samples
                if (pid is None or sample.pid == pid) and (process is None or sample.process == process)]

    def count(self, pid=None):
        return sum(sample.count for sample in self.of(pid))

    def names(self):
        return {name for sample in self.samples for name in sample.names}

    def with_name(self, name):
        """Samples whose stack has the function, how many times they were taken in all."""
        return sum(sample.count for sample in self.samples if name in sample.names)

    def describe_incomplete(self, most=3):
        """For messages: why stacks are not whole, with examples."""
        reasons = {}
        for sample in self.samples:
            if not sample.is_complete:
                reasons.setdefault((sample.process, sample.names[-1]), []).append(sample)
        lines = []
        for (process, reason), samples in sorted(reasons.items(), key=lambda item: -len(item[1])):
            lines.append(f"{process}: {sum(s.count for s in samples)} × {reason}, such as")
            lines += [f"  {' < '.join(s.names[:12])} … ({len(s.names)} frames)" for s in samples[:most]]
        return "\n".join(lines)


def vesta_record(*arguments, check=True, env=None, timeout=DEADLINE * 2, **options):
    """Runs `vesta record` as it is."""
    return support.vesta("record", *arguments, check=check, timeout=timeout, env=env or environment(),
                         stdin=subprocess.DEVNULL, **options)


def record(*arguments, **options):
    """Runs `vesta record` to its end and reads the profile it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.pb.gz"
        done = vesta_record("-o", path, *arguments, **options)
        return Recorded(done.stderr, path)


class LiveRecording:
    """`vesta record` in the background, between start and stop; sampling has begun when it is made."""

    def __init__(self, *arguments):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "out.pb.gz"
        self.process = subprocess.Popen(
            [str(support.VESTA), "record", "-d", "0", "-o", str(self.path), *map(str, arguments)], text=True,
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=die_with_parent)
        try:
            wait_until(self.is_sampling, "vesta samples")
        except AssertionError:
            self.kill()
            raise

    def is_sampling(self):
        """The kernel runs its program on every CPU."""
        if self.process.poll() is not None:
            raise AssertionError(f"vesta ended: {self.process.stderr.read()}")
        links = 0
        with contextlib.suppress(OSError):
            for fd in os.scandir(f"/proc/{self.process.pid}/fd"):
                with contextlib.suppress(OSError):
                    links += "bpf_link" in os.readlink(fd.path)
        return links >= os.cpu_count()

    def stop(self, with_signal=signal.SIGINT):
        self.process.send_signal(with_signal)
        try:
            _, stderr = self.process.communicate(timeout=DEADLINE)
            if self.process.returncode != 0:
                raise AssertionError(f"exit code {self.process.returncode}: {stderr}")
            return Recorded(stderr, self.path)
        finally:
            self.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()


class RecordingTest(unittest.TestCase):
    """A folder for programs, and a skip where nothing can be recorded."""

    @classmethod
    def setUpClass(cls):
        need_bpf()
        folder = tempfile.TemporaryDirectory(prefix="vesta-system-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.folder.chmod(0o755)  # other users run programs from here

    def assert_sampled(self, recorded, least):
        self.assertGreaterEqual(recorded.summary.samples, least, recorded.stderr)


_bpf_problem = None


def need_bpf():
    """Skips where this user cannot record at all."""
    global _bpf_problem
    if _bpf_problem is None:
        done = vesta_record("-p", os.getpid(), "-d", "1ms", "-o", "-", check=False,
                            text=False)
        # Nothing sampled in a millisecond is an answer, too.
        _bpf_problem = "" if done.returncode == 0 or b"used no CPU" in done.stderr else done.stderr.decode().strip()
    if _bpf_problem:
        support.skip(f"vesta cannot record here: {_bpf_problem}")


def need_root():
    if os.geteuid() != 0:
        support.skip("only root can become other users and make namespaces")


def stock(name):
    """The path of a Debian package's own program, not of one that shadows it on PATH."""
    path = shutil.which(name, path="/usr/bin:/usr/sbin:/bin")
    if path is None:
        support.skip(f"'{name}' is not installed")
    return path


def main():
    """Runs the tests of a file, says what was skipped and why."""
    if not support.VESTA.is_file():
        sys.exit(f"no vesta binary at {support.VESTA}: build it or set VESTA")
    support.main()
