#!/usr/bin/env python3
"""`vesta dump`: the stacks of all threads, waiting or running, complete and named, with the target untouched."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import harness
from harness import RecordingTest, compile_program, running, support, wait_until

WAITS = ("mutex", "sleep", "read", "poll", "cond")


def vesta_dump(*arguments, check=True):
    return support.vesta("dump", *arguments, check=check, timeout=harness.DEADLINE * 2, env=harness.environment(),
                         stdin=subprocess.DEVNULL)


def status(folder, key):
    return re.search(rf"(?m)^{key}:\s*(\S+)", (folder / "status").read_text())[1]


class Dump(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.waiting = compile_program(cls.folder, "cpu/waiting.c", "-pthread", name=f"waits-{os.getpid()}")

    def start(self):
        victim = self.enterContext(running(self.waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        self.assertEqual(victim.stdout.readline(), b"ready\n")
        tasks = Path(f"/proc/{victim.pid}/task")

        def names_of_those_asleep():
            return {(task / "comm").read_text().strip() for task in tasks.iterdir() if status(task, "State") == "S"}
        wait_until(lambda: names_of_those_asleep() >= {f"in-{wait}" for wait in (*WAITS, "deep")}, "threads wait")
        return victim

    def threads(self, *arguments):
        dump = json.loads(vesta_dump("-o", "json", *arguments).stdout)
        return {thread["name"]: thread for process in dump["processes"] for thread in process["threads"]}

    def test_every_thread_with_its_whole_stack(self):
        victim = self.start()
        threads = self.threads(victim.pid)
        self.assertEqual(set(threads), {f"in-{wait}" for wait in (*WAITS, "spin", "deep")} | {self.waiting.name[:15]})
        for wait in (*WAITS, "spin"):
            thread = threads[f"in-{wait}"]
            names = [frame["function"] for frame in thread["frames"]]
            self.assertTrue(thread["complete"], thread)
            at = names.index(f"wait_in_{wait}")
            self.assertEqual(names[at:at + 3], [f"wait_in_{wait}", f"call_{wait}", f"run_{wait}"])
            # Down to where the C library starts threads.
            self.assertIn(names[-1], ("clone3", "__clone3", "clone", "__clone"), names)
            frame = thread["frames"][at]
            self.assertTrue(frame["file"].endswith("waiting.c"), frame)
            self.assertGreater(frame["line"], 0)
        for wait in WAITS:
            self.assertEqual(threads[f"in-{wait}"]["state"], "sleeping")
        self.assertIn(threads["in-spin"]["state"], ("running", "runnable"))
        main = threads[self.waiting.name[:15]]
        self.assertTrue(main["complete"], main)
        self.assertIn("main", [frame["function"] for frame in main["frames"]])

    def test_a_stack_that_is_deep_in_bytes(self):
        victim = self.start()
        deep = self.threads(victim.pid)["in-deep"]
        self.assertTrue(deep["complete"], deep.get("problem"))
        self.assertEqual([frame["function"] for frame in deep["frames"]].count("wait_deep"), 201)

    def test_kernel_frames(self):
        victim = self.start()
        frames = self.threads(victim.pid)["in-sleep"]["frames"]
        self.assertTrue(frames[0].get("kernel"), frames[0])
        self.assertIn("hrtimer_nanosleep", [frame["function"] for frame in frames])
        frames = self.threads(victim.pid, "--no-kernel")["in-sleep"]["frames"]
        self.assertFalse(any(frame.get("kernel") for frame in frames))
        self.assertIn("wait_in_sleep", [frame["function"] for frame in frames])

    def test_by_name_as_text_and_folded(self):
        victim = self.start()
        text = vesta_dump(self.waiting.name).stdout
        self.assertRegex(text, rf"(?m)^process {victim.pid} waits-\S+ \(.*\), 8 threads$")
        self.assertRegex(text, r"(?m)^thread \d+ in-poll, sleeping$")
        self.assertRegex(text, r"(?m)^ +\d+  wait_in_poll  \S*waiting\.c:\d+$")
        folded = vesta_dump(victim.pid, "-o", "folded", "--no-kernel").stdout
        self.assertRegex(folded, r"(?m)^\S+;in-mutex;.*;run_mutex;call_mutex;wait_in_mutex;\S.* 1$")
        self.assertEqual(len(folded.splitlines()), 8)

    def test_the_target_is_untouched(self):
        victim = self.start()
        tasks = Path(f"/proc/{victim.pid}/task")

        def facts():
            """Of threads that wait: nothing has woken them, nothing traces them."""
            return {task.name: (status(task, "voluntary_ctxt_switches"), status(task, "nonvoluntary_ctxt_switches"),
                                status(task, "State"), status(task, "TracerPid"))
                    for task in tasks.iterdir() if (task / "comm").read_text().strip() != "in-spin"}
        before = facts()
        for _ in range(3):
            vesta_dump(victim.pid)
        self.assertEqual(facts(), before)
        self.assertIsNone(victim.poll())

    def test_an_interpreter(self):
        script = "import threading,time\ndef idle():\n  time.sleep(1000)\nfor i in range(50): threading.Thread(target=idle," \
                 "daemon=True).start()\nprint('ready',flush=True)\nidle()"
        victim = self.enterContext(running(sys.executable, "-c", script, stdout=subprocess.PIPE))
        self.assertEqual(victim.stdout.readline(), b"ready\n")
        dump = json.loads(vesta_dump("-o", "json", victim.pid).stdout)
        threads = dump["processes"][0]["threads"]
        self.assertEqual(len(threads), 51)
        whole = sum(thread["complete"] for thread in threads)
        self.assertEqual(whole, 51, [thread.get("problem") for thread in threads])

    def test_a_process_that_does_not_exist(self):
        done = vesta_dump(4194304, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no process 4194304", done.stderr)


if __name__ == "__main__":
    harness.main()
