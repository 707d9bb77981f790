#!/usr/bin/env python3
"""Functions have their names: Debian's own programs, stripped ones with a debug file, Go, Rust, JavaScript."""

import os
import re
import subprocess
from pathlib import Path

import harness
from harness import PROGRAMS, RecordingTest, compile_program, record, running, wait_for_cpu


class StockBinaries(RecordingTest):
    """As packaged: no frame pointers, no symbol tables but the dynamic one."""

    def check(self, recorded, least_samples, *functions):
        self.assert_sampled(recorded, least_samples)
        broken = sum(sample.count for sample in recorded.samples if not sample.is_complete)
        # A handful from the moment of exec, before there is anything to unwind, and of the dynamic linker.
        self.assertLessEqual(broken, max(3, 0.01 * recorded.count()), recorded.describe_incomplete())
        for function, share in functions:
            self.assertGreaterEqual(recorded.with_name(function), share * recorded.count(),
                                    f"{function} in {sorted(recorded.names())[:200]}")
        # main's caller: the stack was followed to where it begins.
        self.assertGreaterEqual(recorded.with_name("__libc_start_call_main"), 0.9 * recorded.count())

    def test_openssl(self):
        recorded = record("-F", "999", "--", harness.stock("openssl"), "speed", "-seconds", "2", "-bytes", "1024",
                          "-evp", "sha256")
        self.check(recorded, 100, ("EVP_Digest", 0.8), ("SHA256_Update", 0.3), ("SHA256_Final", 0.01))

    def test_python(self):
        code = "sum(len(repr(i)) for i in range(9_000_000))"
        recorded = record("-F", "999", "--", harness.stock("python3"), "-c", code)
        self.check(recorded, 100, ("_PyEval_EvalFrameDefault", 0.8), ("Py_BytesMain", 0.9), ("Py_RunMain", 0.8))

    def test_clang(self):
        source = self.folder / "small.cc"
        source.write_text("#include <map>\n#include <string>\nstd::map<int, std::string> m;\n"
                          "std::string f(int i) { return m[i] + m[i + 1]; }\n")
        recorded = record("-F", "999", "--", harness.stock("clang++"), "-O1", "-S", "-o", "/dev/null", source)
        self.assert_sampled(recorded, 100)
        self.assertGreater(recorded.with_name("clang::ParseAST"), 0.3 * recorded.count())
        self.assertGreater(recorded.with_name("clang::CompilerInstance::ExecuteAction"), 0.3 * recorded.count())


class Compiled(RecordingTest):
    def record_running(self, *command, arguments=(), seconds="1s", **options):
        with running(*command, **options) as victim:
            wait_for_cpu(victim)
            return record("-F", "999", "-p", victim.pid, "-d", seconds, *arguments)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.inlines = compile_program(cls.folder, "cpu/inlines.cc")

    def strip_with_debug_link(self, name):
        """What a -dbg package is: the program without symbols, and they in a file beside it."""
        folder = self.folder / name
        folder.mkdir()
        program, debug = folder / name, folder / f"{name}.debug"
        objcopy = harness.support.need_command("objcopy")
        subprocess.run([objcopy, "--only-keep-debug", self.inlines, debug], check=True)
        subprocess.run([objcopy, "--strip-all", self.inlines, program], check=True)
        subprocess.run([objcopy, f"--add-gnu-debuglink={debug}", program], check=True)
        return program

    @staticmethod
    def line_of(function):
        text = (PROGRAMS / "cpu/inlines.cc").read_text().splitlines()
        return next(i for i, line in enumerate(text, 1) if line.endswith(f"// line of {function}"))

    def inlined_frames(self, recorded):
        """The frames of the hottest stack that is in the loop, down to main."""
        stacks = [s for s in recorded.samples if "victim::outer" in s.names and "main" in s.names]
        self.assertTrue(stacks, recorded.names())
        hottest = max(stacks, key=lambda sample: sample.count).frames
        return hottest[:[frame.name for frame in hottest].index("main") + 1]

    def test_debug_file_beside_a_stripped_program(self):
        frames = self.inlined_frames(self.record_running(self.strip_with_debug_link("linked")))
        names = [frame.name.split("<")[0] for frame in frames[-4:]]
        self.assertEqual(names, ["victim::Mixer", "victim::middle", "victim::outer", "main"])
        self.assertRegex(frames[-4].name, r"^victim::Mixer<.*>::innermost$")
        self.assertTrue(all(frame.file.endswith("cpu/inlines.cc") for frame in frames), frames)
        lines = [self.line_of(function) for function in ("innermost", "middle", "outer", "main")]
        self.assertEqual([frame.line for frame in frames[-4:]], lines)

    def test_without_inlines(self):
        recorded = self.record_running(self.inlines, arguments=["--no-inlines"])
        self.assertEqual([frame.name for frame in self.inlined_frames(recorded)], ["victim::outer", "main"])

    def test_demangling(self):
        def name_of_loop(style):
            frames = self.inlined_frames_mangled(self.record_running(self.inlines, arguments=["--demangle", style]))
            return frames[0].name

        self.assertEqual(name_of_loop("off"), "_ZN6victim5MixerImE9innermostEm")
        self.assertRegex(name_of_loop("full"), r"^victim::Mixer<unsigned long>::innermost\(unsigned long\)$")
        self.assertRegex(name_of_loop("short"), r"^victim::Mixer<.*>::innermost$")

    def inlined_frames_mangled(self, recorded):
        return max((s for s in recorded.samples if "innermost" in s.names[0]), key=lambda s: s.count).frames

    def test_stripped_without_debug_file(self):
        program = self.folder / "bare"
        subprocess.run([harness.support.need_command("strip"), "-o", program, self.inlines], check=True)
        recorded = self.record_running(program)
        # The file and where the function begins is all there is to say, and the stack is whole nevertheless.
        self.assertEqual(recorded.summary.complete, 1)
        in_program = sum(s.count for s in recorded.samples if any(re.fullmatch(r"bare\+0x[0-9a-f]+", name) for name in s.names))
        self.assertGreater(in_program, 0.9 * recorded.count())

    def test_stripped_go(self):
        go = harness.support.need_command("go")
        program = self.folder / "burn-go"
        subprocess.run([go, "build", "-ldflags=-s -w", "-o", program, PROGRAMS / "cpu/burn.go"], check=True,
                       env={**os.environ, "GOFLAGS": "-buildvcs=false", "GO111MODULE": "off"})
        # The first thread of a Go program waits; its others work.
        with running(program) as victim:
            recorded = record("-F", "999", "-p", victim.pid, "-d", "1s")
        self.assert_sampled(recorded, 50)
        self.assertGreaterEqual(recorded.summary.complete, 0.99, recorded.describe_incomplete())
        stacks = [sample for sample in recorded.samples if "main.(*mixer).step" in sample.names]
        self.assertGreater(sum(s.count for s in stacks), 0.9 * recorded.count(), recorded.names())
        for sample in stacks:
            at = sample.names.index("main.(*mixer).step")
            self.assertEqual(sample.names[at:at + 3], ["main.(*mixer).step", "main.work", "runtime.goexit"][:3])
        self.assertTrue(all(s.frames[s.names.index("main.work")].file.endswith("burn.go") for s in stacks))

    def test_rust(self):
        rustc = harness.support.need_command("rustc")
        for mangling in ("legacy", "v0"):
            with self.subTest(mangling):
                program = self.folder / f"burn-{mangling}"
                # Releases before they were stable want the first spelling.
                for flags in (["-C", f"symbol-mangling-version={mangling}"], []):
                    done = subprocess.run([rustc, "-O", *flags, "-o", program, PROGRAMS / "cpu/burn.rs"],
                                          capture_output=True, text=True)
                    if done.returncode == 0:
                        break
                self.assertEqual(done.returncode, 0, done.stderr)
                recorded = self.record_running(program)
                name = "<burn::Mixer<…> as burn::Step>::step"
                self.assertGreater(recorded.with_name(name), 0.9 * recorded.count(), recorded.names())
                self.assertEqual(recorded.with_name("burn::main"), recorded.with_name(name))

    def test_javascript_with_a_perf_map(self):
        node = harness.support.need_command("node")
        with running(node, "--perf-basic-prof", "--interpreted-frames-native-stack",
                     PROGRAMS / "cpu/burn.js") as victim:
            self.addCleanup(Path(f"/tmp/perf-{victim.pid}.map").unlink, missing_ok=True)
            wait_for_cpu(victim, 0.5)
            recorded = record("-F", "999", "-p", victim.pid, "-d", "2s")
        named = sum(s.count for s in recorded.samples if any("mixNumbers" in name for name in s.names))
        self.assertGreater(named, 0.8 * recorded.count(), recorded.names())
        self.assertTrue(any("outerLoop" in name for name in recorded.names()))
        self.assertGreaterEqual(recorded.summary.complete, 0.99, recorded.describe_incomplete())


if __name__ == "__main__":
    harness.main()
