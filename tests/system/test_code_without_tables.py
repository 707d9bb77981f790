#!/usr/bin/env python3
"""Code without unwind tables: C libraries that come without (musl), hand-written assembly, contexts and signals that
return to a function's first byte, and functions that have lost their names."""

import subprocess

import harness
import support
from harness import PROGRAMS, LiveRecording, RecordingTest, compile_program, running

CPU_SECONDS = 1.5
LEAST = 0.95  # of the stacks of a program in a C library without tables
LEAST_SAMPLES = 300


def share(samples, condition):
    total = sum(sample.count for sample in samples)
    return sum(sample.count for sample in samples if condition(sample)) / total if total else 0


def outside_of(sample, name):
    """The frames around a function, innermost first, up to the outermost."""
    return sample.names[sample.names.index(name) + 1:]


class CodeWithoutTables(RecordingTest):
    def record(self, *command):
        with running(*command) as process:
            harness.wait_for_cpu(process)
            recording = LiveRecording("-F", "999", "-p", process.pid)
            try:
                harness.wait_for_more_cpu(process, CPU_SECONDS)
            except BaseException:
                recording.kill()
                raise
            recorded = recording.stop()
        self.assertGreater(recorded.count(), LEAST_SAMPLES, recorded.stderr)
        return recorded

    def test_a_program_busy_in_musl(self):
        compiler = support.need_command("musl-gcc")
        program = compile_program(self.folder, "stacks/libc_user.c", "-fasynchronous-unwind-tables", "-pthread",
                                  compiler=compiler)
        recorded = self.record(program)
        print(recorded.summary)
        self.assertGreaterEqual(share(recorded.samples, lambda one: one.is_complete), LEAST,
                                recorded.describe_incomplete(10))
        # Nothing is invented: what is called by name is called by who calls it.
        callers = {"use_strings", "use_sorting", "use_printing", "use_memory", "use_expressions"}
        for sample in recorded.samples:
            for caller in callers.intersection(sample.names):
                self.assertEqual(outside_of(sample, caller)[:2], ["turn", "run"], sample.names)
            if "by_last_digit" in sample.names and sample.is_complete:
                self.assertIn("use_sorting", sample.names)
            if "snprintf" in sample.names and sample.is_complete:
                self.assertIn("use_printing", sample.names)
        # Both threads are there, and main's stacks end where the program begins.
        self.assertGreater(recorded.with_name("main"), 0)
        self.assertTrue(any(sample.is_complete and "run" in sample.names and "main" not in sample.names
                            for sample in recorded.samples), "a thread's stack")

    def test_hand_written_assembly(self):
        program = self.folder / "assembly"
        subprocess.run([support.need_command("gcc"), *harness.DEBIAN_FLAGS, PROGRAMS / "stacks/assembly_main.c",
                        PROGRAMS / "stacks/assembly.S", "-o", program], check=True)
        recorded = self.record(program)
        print(recorded.summary)
        by_leaf = {}
        for sample in recorded.samples:
            if sample.names[0].startswith("asm_"):
                by_leaf.setdefault(sample.names[0], []).append(sample)
        self.assertEqual(set(by_leaf), {"asm_leaf", "asm_pushes", "asm_aligned", "asm_unclear"})
        for name, samples in by_leaf.items():
            if name != "asm_unclear":
                self.assertGreaterEqual(share(samples, lambda one: one.is_complete), 0.99, name)
            for sample in samples:
                callers = [["call_" + name.removeprefix("asm_")]]
                if name == "asm_leaf":
                    callers.append(["called_back", "asm_calls", "call_calls"])
                # Either the caller, or none: traces of other calls lie all over the stack.
                found = [one for one in sample.names[1:] if one != "[guessed caller]"]
                right = [caller + ["turn", "main"] for caller in callers]
                if sample.is_complete:
                    self.assertIn(found[:len(right[0])] if found[0] == right[0][0] else found[:5], right, sample.names)
                else:
                    self.assertTrue(found[0].startswith("[incomplete"), sample.names)
        # Nothing can be known about a stack pointer that moves by what is in a register.
        self.assertEqual(share(by_leaf["asm_unclear"], lambda one: one.is_complete), 0)

    def test_contexts_end_where_they_were_made(self):
        program = compile_program(self.folder, "stacks/contexts.c")
        recorded = self.record(program)
        print(recorded.summary)
        burning = [sample for sample in recorded.samples if "burn" in sample.names]
        self.assertGreaterEqual(share(recorded.samples, lambda one: one.is_complete), 0.99,
                                recorded.describe_incomplete(5))
        for sample in burning:
            self.assertEqual(outside_of(sample, "burn")[0], "body", sample.names)
            self.assertEqual(len(outside_of(sample, "body")), 1, sample.names)

    def test_signals_return_by_a_frame_with_a_name(self):
        program = compile_program(self.folder, "stacks/signals.c")
        recorded = self.record(program)
        handled = [sample for sample in recorded.samples if "on_signal" in sample.names]
        self.assertGreaterEqual(share(recorded.samples, lambda one: one.is_complete), 0.99,
                                recorded.describe_incomplete(5))
        for sample in handled:
            names = outside_of(sample, "on_signal")
            self.assertEqual(names[0], "__restore_rt", sample.names)
            self.assertIn("raise_signals", names)

    def test_signals_in_go(self):
        program = self.folder / "go_signals"
        subprocess.run([support.need_command("go"), "build", "-o", program, PROGRAMS / "stacks/go_signals.go"],
                       check=True)
        recorded = self.record(program)
        names = recorded.names()
        self.assertNotIn("runtime.cgoSigtramp", names)
        returning = [sample for sample in recorded.samples
                     if "runtime.sigtramp" in sample.names and outside_of(sample, "runtime.sigtramp")]
        self.assertTrue(returning, "no signal was sampled")
        for sample in returning:
            self.assertRegex(outside_of(sample, "runtime.sigtramp")[0], r"^runtime\.sigreturn", sample.names)
        self.assertGreaterEqual(share(returning, lambda one: one.is_complete), 0.99, recorded.describe_incomplete(5))

    def test_functions_without_names_are_told_apart_by_where_they_begin(self):
        source = self.folder / "nameless.c"
        source.write_text("""
            static volatile unsigned sum;
            __attribute__((noinline)) static void hidden_one(void) {
              for (int i = 0; i < 300000; ++i) sum = sum * 1103515245 + 1;
              for (int i = 0; i < 300000; ++i) sum = sum * 1103515245 + 2;
            }
            __attribute__((noinline)) static void hidden_two(void) {
              for (int i = 0; i < 300000; ++i) sum = sum * 1103515245 + 3;
            }
            int main(void) { while (1) { hidden_one(); hidden_two(); } }
        """)
        program = self.folder / "nameless"
        subprocess.run([support.need_command("gcc"), "-O2", source, "-o", program], check=True)
        symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        starts = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}
        subprocess.run([support.need_command("strip"), program], check=True)
        recorded = self.record(program)
        print(recorded.summary)
        ours = {name for name in recorded.names() if name.startswith("nameless+")}
        wanted = {f"nameless+{starts[name]:#x}" for name in ("main", "hidden_one", "hidden_two")}
        self.assertLessEqual(wanted, ours)
        self.assertLessEqual(len(ours), len(wanted) + 2, f"one name for each function: {ours}")
        # They have no names, and the summary says so.
        self.assertLess(recorded.summary.named, 0.9)


if __name__ == "__main__":
    harness.main()
