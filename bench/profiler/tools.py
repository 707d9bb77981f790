"""The profilers that are compared: how each is run, and what its output says about stacks.

perf and bcc as Debian 12 has them. Two things keep this perf going on newer kernels: -B and --no-bpf-event
(without them it ends in "stack smashing detected"); both spare it work. So does --no-inline for its names: with inlined
calls, which Vesta's have, `perf script` needs minutes.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import time
from collections import namedtuple

from loads import JUDGED

# Where stacks begin.
OUTERMOST = re.compile(r"(_start|__libc_start_main|__libc_start_call_main|start_thread|clone3?|__clone3?|thread_main)\b")
START_BYTES = 0x40  # of _start: where a stripped executable has no name for it, its address is known

Stack = namedtuple("Stack", "comm frames count")  # outermost first; a frame is (name, file, address)


def entry_address(path, cache={}):
    if path not in cache:
        try:
            with open(path, "rb") as file:
                head = file.read(64)
            cache[path] = struct.unpack_from("<Q", head, 24)[0] if head[:4] == b"\x7fELF" else None
        except OSError:
            cache[path] = None
    return cache[path]


def is_complete(stack):
    name, file, address = stack.frames[0]
    if OUTERMOST.match(name):
        return True
    # Addresses are compared within their page: perf's are those of the file, Vesta's those of the ELF image.
    entry = entry_address(file) if file else None
    return entry is not None and address is not None and 0 <= (address - entry) % 4096 < START_BYTES


def judge(stacks):
    """(judged, complete, mean depth) of the samples in user space of the programs that are judged."""
    judged = complete = depth = 0
    for stack in stacks:
        if not stack.frames or not stack.comm.startswith(JUDGED):
            continue
        judged += stack.count
        complete += stack.count * is_complete(stack)
        depth += stack.count * len(stack.frames)
    return judged, complete, depth / judged if judged else 0


def cpu_seconds_of(pid):
    return time.clock_gettime((~pid << 3) | 2)


class Tool:
    """One profiler. record() runs it and returns a dictionary of what it took."""

    def __init__(self, name, data):
        self.name = name
        self.data = data

    def available(self):
        return True

    def record(self, seconds, frequency=99, at=None):
        """`at`: (seconds after the start, function) to call meanwhile."""
        command, environment = self.command(seconds, frequency)
        launched_unix, launched = time.time(), time.monotonic()
        with open(self.data / f"{self.name}.out", "w", encoding="utf-8") as out, \
                open(self.data / f"{self.name}.err", "w", encoding="utf-8") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                       env={**os.environ, **environment})
        steady_from, rss, anonymous, steady = seconds * 0.4, 0, 0, None
        marks = []
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            now = time.monotonic() - launched
            if now >= steady_from and (not marks or now < seconds * 0.95):
                marks = marks[:1] + [(now, cpu_seconds_of(process.pid))]
            total, private = memory_of(process.pid)
            rss, anonymous = max(rss, total), max(anonymous, private)
            if at is not None and now >= at[0]:
                at[1](process.pid)
                at = None
            time.sleep(0.2)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{self.name} failed: " + (self.data / f"{self.name}.err").read_text()[-2000:])
        if len(marks) == 2:
            steady = 100 * (marks[1][1] - marks[0][1]) / (marks[1][0] - marks[0][0])
        result = {"cpu": usage.ru_utime + usage.ru_stime, "steady": steady, "rss": rss / 1e6, "anonymous": anonymous / 1e6,
                  "names_cpu": 0.0, "names_failed": False}
        result.update(self.read(launched_unix, launched))
        result["written"] = result["bytes"] / seconds
        return result


def memory_of(pid):
    """(resident, of it not of files) in bytes."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0, 0
    kb = lambda key: int(match.group(1)) if (match := re.search(rf"^{key}:\s+(\d+) kB", text, re.M)) else 0
    return kb("VmHWM") * 1024, kb("RssAnon") * 1024


class Vesta(Tool):
    def __init__(self, data, vesta):
        super().__init__("vesta", data)
        self.vesta = vesta
        self.output = data / "vesta.pb.gz"

    def command(self, seconds, frequency):
        return [self.vesta, "record", "-a", "-F", str(frequency), "-d", f"{seconds}s", "-o", str(self.output)], {}

    def read(self, launched_unix, _launched):
        text = (self.data / "vesta.err").read_text()
        count = lambda pattern: int(re.search(pattern, text).group(1).replace(",", ""))
        folded = self.data / "vesta.folded"
        subprocess.run([self.vesta, "convert", str(self.output), "-t", "samples", "-o", str(folded)], check=True,
                       capture_output=True)
        judged, complete, depth = judge(self.stacks(folded))
        return {"samples": count(r"in ([\d,]+) samples"), "lost": count(r"lost ([\d,]+)"), "judged": judged,
                "complete": complete, "depth": depth, "bytes": self.output.stat().st_size,
                "start": start_time_ns(self.output) / 1e9 - launched_unix}

    def stacks(self, folded):
        paths = {}
        for line in folded.read_text().splitlines():
            head, _, value = line.rpartition(" ")
            comm, *frames = head.split(";")
            user = []
            for frame in frames:
                if frame.endswith("_[k]"):
                    break
                module, plus, offset = frame.rpartition("+0x")
                if plus and re.fullmatch(r"[0-9a-f]+", offset):
                    user.append((frame, paths.setdefault(module, find_executable(module)), int(offset, 16)))
                else:
                    user.append((frame, None, None))
            yield Stack(comm, user, int(value))


def find_executable(name):
    for folder in ("/usr/bin", "/usr/lib/llvm-14/bin"):
        path = os.path.realpath(f"{folder}/{name}")
        if os.path.exists(path):
            return path
    return None


def start_time_ns(path):
    """Field 9 of the pprof message: when the clocks began to tick."""
    import gzip
    data = gzip.decompress(path.read_bytes())
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
            if key >> 3 == 9:
                return value
        elif key & 7 == 2:
            size = varint()
            at += size
        else:
            break
    return 0


class Perf(Tool):
    def __init__(self, name, data, call_graph):
        super().__init__(name, data)
        self.output = data / f"{name}.data"
        self.call_graph = call_graph

    def available(self):
        return shutil.which("perf") is not None

    def command(self, seconds, frequency):
        return ["perf", "record", "-B", "--no-bpf-event", "-k", "CLOCK_MONOTONIC", "-a", "-F", str(frequency),
                *self.call_graph, "-o", str(self.output), "--", "sleep", str(seconds)], {}

    def read(self, _launched_unix, launched):
        listing = self.data / f"{self.name}.script"
        with open(listing, "w", encoding="utf-8") as out:
            script = subprocess.Popen(["perf", "script", "--no-inline", "-F", "comm,tid,time,ip,sym,dso", "-i", str(self.output)],
                                      stdout=out, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(script.pid, 0)
        script.returncode = os.waitstatus_to_exitcode(status)
        stacks, first = [], None
        samples = 0
        for block in listing.read_text(errors="replace").split("\n\n"):
            lines = block.strip("\n").splitlines()
            if not lines:
                continue
            head = re.match(r"\s*(.+?)\s+(\d+)\s+([\d.]+):", lines[0])
            if not head:
                continue
            samples += 1
            first = first or float(head.group(3))
            frames = []
            for line in lines[1:]:
                match = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line)
                if match and not match.group(3).startswith("[kernel"):
                    frames.append((match.group(2), match.group(3), int(match.group(1), 16)))
            stacks.append(Stack(head.group(1), frames[::-1], 1))
        judged, complete, depth = judge(stacks)
        text = (self.data / f"{self.name}.err").read_text()
        lost = re.search(r"lost (\d+)", text)
        return {"samples": samples, "lost": int(lost.group(1)) if lost else 0, "judged": judged, "complete": complete,
                "depth": depth, "bytes": self.output.stat().st_size, "start": (first or launched) - launched,
                "names_cpu": usage.ru_utime + usage.ru_stime, "names_failed": script.returncode != 0}


class Bcc(Tool):
    def __init__(self, data):
        super().__init__("bcc", data)

    def available(self):
        return shutil.which("profile-bpfcc") is not None and kernel_headers(self.data) is not None

    def command(self, seconds, frequency):
        return (["profile-bpfcc", "-a", "-f", "-d", "-F", str(frequency), str(seconds)],
                {"BCC_KERNEL_SOURCE": str(kernel_headers(self.data))})

    def read(self, _launched_unix, _launched):
        path = self.data / "bcc.out"
        stacks = []
        for line in path.read_text(errors="replace").splitlines():
            head, _, value = line.rpartition(" ")
            if not value.isdigit():
                continue
            comm, *frames = head.split(";")
            user = []
            for frame in frames:
                if frame == "-" or frame.endswith("_[k]"):
                    break
                user.append((frame, None, None))
            stacks.append(Stack(comm, user, int(value)))
        judged, complete, depth = judge(stacks)
        missed = re.search(r"(\d+) stack traces could not be displayed", (self.data / "bcc.err").read_text())
        return {"samples": sum(stack.count for stack in stacks), "lost": int(missed.group(1)) if missed else 0,
                "judged": judged, "complete": complete, "depth": depth, "bytes": path.stat().st_size, "start": None}


def kernel_headers(data):
    """One tree of Debian's two packages of headers. bcc's profile uses nothing that differs between kernels."""
    tree = data / "kernel-headers"
    if not tree.exists():
        common = sorted(pathlib.Path("/usr/src").glob("linux-headers-*-common"))
        if not common:
            return None
        machine = pathlib.Path(str(common[-1]).replace("-common", "-amd64"))
        tree.mkdir(parents=True)
        for source in (common[-1], machine):
            for folder in ("include", "arch"):
                if (source / folder).is_dir():
                    subprocess.run(["cp", "-rsf", str(source / folder), str(tree)], check=True)
    return tree


def all_tools(data, vesta):
    tools = [Vesta(data, vesta), Perf("perf-g", data, ["-g"]), Perf("perf-dwarf", data, ["--call-graph", "dwarf"]), Bcc(data)]
    return [tool for tool in tools if tool.available()]
