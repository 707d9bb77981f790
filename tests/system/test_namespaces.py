#!/usr/bin/env python3
"""Containers: what a process sees as its files and numbers is not what vesta sees."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import harness
from harness import Recorded, RecordingTest, compile_program, record, running, support, wait_for_cpu, wait_until


def only_child(process):
    """The host's number of what a process started."""
    def find():
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                if int(fields[1]) == process.pid:
                    return int(entry.name)
        return None

    return wait_until(find, f"{process.args} starts something")


class Namespaces(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        harness.need_root()
        cls.unshare = support.need_command("unshare")
        if subprocess.run([cls.unshare, "-mpf", "--mount-proc", "true"], capture_output=True).returncode != 0:
            support.skip("namespaces cannot be made here")
        cls.shares = compile_program(cls.folder, "cpu/shares.c")

    def record_pid(self, pid, *arguments):
        wait_until(lambda: harness.cpu_ns(pid) > 5e7, "it burns")
        recorded = record("-F", "999", "-p", pid, "-d", "1s", *arguments)
        self.assert_sampled(recorded, 20)
        self.assertGreaterEqual(recorded.summary.complete, 0.98, recorded.describe_incomplete())
        return recorded

    def test_target_in_a_pid_namespace(self):
        with running(self.unshare, "-pf", "--kill-child", "--mount-proc", self.shares) as outer:
            pid = only_child(outer)
            recorded = self.record_pid(pid)
        self.assertEqual({sample.pid for sample in recorded.samples}, {pid})
        self.assertGreater(recorded.with_name("heavy"), 0.3 * recorded.count())

    def test_perf_map_goes_by_the_number_in_the_namespace(self):
        jit = compile_program(self.folder, "cpu/jit.c")
        with running(self.unshare, "-mpf", "--kill-child", "--mount-proc", "sh", "-c",
                     # A /tmp of its own, as in a container; 1 is its number there.
                     f"exec 3< {jit}; mount -t tmpfs none /tmp; exec /proc/self/fd/3", text=True,
                     stdout=subprocess.PIPE) as outer:
            address = outer.stdout.readline().strip()
            pid = only_child(outer)
            (Path(f"/proc/{pid}/root/tmp/perf-1.map")).write_text(f"{address} in the container\n")
            recorded = self.record_pid(pid)
        self.assertGreater(recorded.with_name("in the container"), 0.9 * recorded.count(), recorded.names())

    def test_another_file_under_the_same_path(self):
        # The host's /usr/bin/xz is xz; the target's is our program.
        path = harness.stock("xz")
        with running(self.unshare, "-m", "sh", "-c", f"mount --bind {self.shares} {path} && exec {path}") as victim:
            recorded = self.record_pid(victim.pid)
        self.assertEqual({sample.process for sample in recorded.samples}, {"xz"})
        self.assertGreater(recorded.with_name("heavy"), 0.3 * recorded.count(), recorded.names())
        self.assertTrue(any(mapping["file"] == path for mapping in recorded.raw.mappings), recorded.raw.mappings)

    def test_chroot(self):
        root = self.folder / "root"
        listed = subprocess.run(["ldd", self.shares], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+)", listed):
            place = root / library.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
        (root / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(self.shares, root / "bin/program")
        with running("chroot", root, "/bin/program") as victim:
            recorded = self.record_pid(victim.pid)
        self.assertGreater(recorded.with_name("heavy"), 0.3 * recorded.count())
        in_libc = sum(s.count for s in recorded.samples
                      if any(name == "__libc_start_call_main" or name.startswith("libc.so.6+0x") for name in s.names))
        self.assertGreater(in_libc, 0.9 * recorded.count())

    def test_debug_file_that_only_the_target_has(self):
        program = compile_program(self.folder, "cpu/inlines.cc")
        objcopy = support.need_command("objcopy")
        debug, bare = self.folder / "inlines.debug", self.folder / "bare"
        subprocess.run([objcopy, "--only-keep-debug", program, debug], check=True)
        subprocess.run([objcopy, "--strip-all", program, bare], check=True)
        notes = subprocess.run(["readelf", "-n", bare], capture_output=True, text=True, check=True).stdout
        build_id = re.search(r"Build ID: (\w+)", notes)[1]
        place = f"/usr/lib/debug/.build-id/{build_id[:2]}"
        Path("/usr/lib/debug").mkdir(parents=True, exist_ok=True)
        script = (f"mount -t tmpfs none /usr/lib/debug && mkdir -p {place} && "
                  f"cp {debug} {place}/{build_id[2:]}.debug && exec {bare}")
        with running(self.unshare, "-m", "sh", "-c", script) as victim:
            wait_until(lambda: os.readlink(f"/proc/{victim.pid}/exe") == str(bare), "it starts")
            recorded = self.record_pid(victim.pid)
        self.assertGreater(recorded.with_name("victim::middle"), 0.9 * recorded.count(), recorded.names())
        self.assertFalse(Path(f"{place}/{build_id[2:]}.debug").exists())

    def test_a_program_that_was_replaced(self):
        program = self.folder / "replaced"
        shutil.copy(self.shares, program)
        with running(program) as victim:
            wait_for_cpu(victim)
            other = self.folder / "other"
            shutil.copy("/bin/true", other)
            other.rename(program)
            recorded = self.record_pid(victim.pid)
        self.assertGreater(recorded.with_name("heavy"), 0.3 * recorded.count(), recorded.names())

    def vesta_inside(self, *arguments):
        """Runs vesta itself in a pid namespace."""
        path = self.folder / "inside.pb.gz"
        done = subprocess.run([self.unshare, "-pf", "--kill-child", "--mount-proc", *map(str, arguments)],
                              capture_output=True, text=True, env=harness.environment(OUT=str(path)),
                              timeout=harness.DEADLINE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Recorded(done.stderr, path)

    def test_vesta_inside_of_a_pid_namespace(self):
        recorded = self.vesta_inside(support.VESTA, "record", "-F", "999", "-o", self.folder / "inside.pb.gz", "--",
                                     self.shares, "600")
        self.assertGreater(recorded.with_name("heavy"), 0.3 * recorded.count())
        self.assertTrue(all(sample.pid < 100 for sample in recorded.samples), "numbers of the namespace")

    def test_vesta_inside_records_by_number(self):
        script = f'{self.shares} & "$0" record -F 999 -p $! -d 1s -o $OUT; status=$?; kill $!; exit $status'
        recorded = self.vesta_inside("sh", "-c", script, support.VESTA)
        self.assertGreater(recorded.with_name("heavy"), 0.3 * recorded.count())
        self.assertGreaterEqual(recorded.summary.complete, 0.98, recorded.describe_incomplete())

    def test_vesta_inside_sees_its_namespace_alone(self):
        with running(self.shares) as outside:
            wait_for_cpu(outside)
            script = f'{self.shares} & "$0" record -F 999 -a -d 1s -o $OUT; status=$?; kill $!; exit $status'
            recorded = self.vesta_inside("sh", "-c", script, support.VESTA)
        self.assertGreater(recorded.with_name("heavy"), 20)
        self.assertFalse([s.pid for s in recorded.samples if s.pid == outside.pid])


if __name__ == "__main__":
    harness.main()
