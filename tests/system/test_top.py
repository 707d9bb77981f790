#!/usr/bin/env python3
"""`vesta top` on processes: tables without a terminal, a live screen with keys on one."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import harness
from harness import RecordingTest, compile_program, running, support, wait_for_cpu

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def vesta_top(*arguments, check=True):
    return support.vesta("top", *arguments, check=check, timeout=harness.DEADLINE * 2, env=harness.environment(),
                         stdin=subprocess.DEVNULL)


class Screen:
    """`vesta top` on a terminal of its own; what it drew last, as lines."""

    def __init__(self, test, *arguments, rows=24, columns=100):
        self.text = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(support.VESTA, ["vesta", "top", *map(str, arguments)],
                      harness.environment(TERM="xterm", NO_COLOR="1"))
        self.resize(rows, columns)
        self.status = None
        test.addCleanup(self.close)

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def read_until(self, condition, what):
        """Reads on until the condition is true of the last whole drawing."""
        end = time.monotonic() + harness.DEADLINE
        while True:
            lines = self.lines()
            if lines and condition(lines):
                return lines
            left = end - time.monotonic()
            if left < 0:
                raise AssertionError(f"waited for {what}; the screen: {lines}")
            if select.select([self.terminal], [], [], min(left, 1))[0]:
                try:
                    self.text += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError as error:
                    raise AssertionError(f"it ended before {what}: {self.text[-2000:]!r}") from error

    def lines(self):
        drawings = self.text.split("\x1b[H")[1:]
        whole = [drawing.split("\x1b[J")[0] for drawing in drawings if "\x1b[J" in drawing]
        return re.sub(r"\x1b\[K|\r", "", whole[-1]).split("\n") if whole else []

    def wait(self):
        """To its end; returns the exit code."""
        while True:
            try:
                got = os.read(self.terminal, 65536)
            except OSError:
                break
            if not got:
                break
            self.text += got.decode(errors="replace")
        self.status = os.waitpid(self.pid, 0)[1]
        return os.waitstatus_to_exitcode(self.status)

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)


def functions(lines):
    """Names of the rows, in order."""
    return [match[1] for line in lines if (match := re.match(r" *[\d.]+% +[\d.]+% +\S+  (\S+)", line))]


class Top(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shares = compile_program(cls.folder, "cpu/shares.c", name=f"top-{os.getpid()}")

    def start(self):
        victim = self.enterContext(running(self.shares))
        wait_for_cpu(victim)
        return victim

    def test_tables_without_a_terminal(self):
        victim = self.start()
        done = vesta_top("-p", victim.pid, "-F", "499", "-i", "500ms", "--count", "3")
        tables = done.stdout.split("\n\n")[:-1]
        self.assertEqual(len(tables), 3, done.stdout)
        head, quality, *_ = tables[-1].splitlines()
        self.assertRegex(head, rf"^process {victim.pid}: [\d.]+ CPUs over the last [\d.]+s, [\d,]+ samples at 499 Hz$")
        self.assertRegex(quality, r"^complete stacks \S+, named frames \S+, lost 0$")
        self.assertIn("spin", functions(tables[-1].splitlines()))
        self.assertRegex(tables[-1], rf"spin  \[{self.shares.name}\]")

    def test_by_name_sorted_by_cum_with_few_rows(self):
        self.start()
        done = vesta_top("-p", self.shares.name, "-F", "499", "--count", "1", "--cum", "-n", "4", "-d", "20s")
        rows = functions(done.stdout.splitlines())
        self.assertLessEqual(len(rows), 4)
        self.assertIn("main", rows)

    def test_the_window_slides(self):
        victim = self.start()
        done = vesta_top("-p", victim.pid, "-i", "200ms", "--window", "600ms", "--count", "6")
        spans = [float(span) for span in re.findall(r"over the last ([\d.]+)s", done.stdout)]
        self.assertEqual(len(spans), 6)
        # Three stretches; each is as long as the machine made it, so only the first ones are sure to grow.
        self.assertLess(spans[0], spans[1])
        self.assertLess(spans[1], spans[2])

    def test_whole_host_as_json(self):
        self.start()
        done = vesta_top("-a", "-F", "499", "--count", "1", "-o", "json")
        self.assertIn("spin", [row["name"] for row in json.loads(done.stdout)["rows"]])

    def test_filters_of_files_work_here_too(self):
        victim = self.start()
        done = vesta_top("-p", victim.pid, "-F", "499", "--count", "1", "--focus", "heavy", "--hide", "^spin$")
        rows = functions(done.stdout.splitlines())
        self.assertIn("heavy", rows)
        self.assertNotIn("spin", rows)
        self.assertNotIn("light", rows)

    def test_ends_with_its_process(self):
        victim = self.start()
        top = self.enterContext(running(support.VESTA, "top", "-p", victim.pid, "-i", "300ms", stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=harness.environment()))
        self.assertIn("CPUs over the last", top.stdout.readline())
        victim.kill()
        _, stderr = top.communicate(timeout=harness.DEADLINE)
        self.assertEqual(top.returncode, 0, stderr)
        self.assertIn("all processes have ended", stderr)

    def test_ends_when_its_reader_has_gone(self):
        victim = self.start()
        top = self.enterContext(running(support.VESTA, "top", "-p", victim.pid, "-i", "200ms", stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=harness.environment()))
        top.stdout.readline()
        top.stdout.close()
        top.wait(timeout=harness.DEADLINE)

    def test_screen_and_keys(self):
        victim = self.start()
        screen = Screen(self, "-p", victim.pid, "-F", "499", "-i", "300ms")
        lines = screen.read_until(lambda lines: "spin" in functions(lines), "a table")
        self.assertIn(ENTER, screen.text)
        self.assertRegex(lines[2], r"Self%↓ +Cum% ")
        self.assertIn("q quit", lines[-1])
        screen.press("s")
        lines = screen.read_until(lambda lines: "Cum%↓" in lines[2], "the other order")
        screen.press("/HEAV")
        screen.read_until(lambda lines: lines[-1].startswith("filter: HEAV_"), "what is typed")
        screen.press("\r")
        screen.read_until(lambda lines: functions(lines) == ["heavy"], "one row")
        screen.press("/\x1b")
        screen.read_until(lambda lines: len(functions(lines)) > 1, "no filter")
        screen.press("p")
        lines = screen.read_until(lambda lines: lines[0].endswith(", paused"), "a pause")
        screen.press("p")
        screen.read_until(lambda lines: not lines[0].endswith(", paused"), "no pause")
        screen.press("z")
        screen.read_until(lambda lines: "over the last 0.0s" in lines[0], "a new beginning")
        screen.press("q")
        self.assertEqual(screen.wait(), 0)
        self.assertTrue(screen.text.rstrip().endswith(LEAVE), screen.text[-200:])

    def test_resizing(self):
        victim = self.start()
        screen = Screen(self, "-p", victim.pid, "-F", "499", rows=24, columns=100)
        screen.read_until(lambda lines: "spin" in functions(lines), "a table")
        screen.resize(8, 40)
        lines = screen.read_until(lambda lines: len(lines) <= 8 and max(map(len, lines)) <= 40, "a small screen")
        self.assertTrue(functions(lines))
        screen.press("q")
        self.assertEqual(screen.wait(), 0)

    def test_ctrl_c_leaves_the_terminal_as_it_was(self):
        victim = self.start()
        screen = Screen(self, "-p", victim.pid)
        screen.read_until(lambda lines: "q quit" in lines[-1], "the screen")
        self.assertFalse(termios.tcgetattr(screen.terminal)[3] & termios.ECHO)
        screen.press("\x03")
        code = screen.wait()
        self.assertEqual(code, 0)
        self.assertIn(LEAVE, screen.text)
        local_modes = termios.tcgetattr(screen.terminal)[3]
        self.assertTrue(local_modes & termios.ECHO and local_modes & termios.ICANON)

    def test_mistakes(self):
        for arguments, message in ((("-p", "1", "x.pb.gz"), "cannot combine sources with live targets"),
                                   (("--count", "1", "x.pb.gz"), "--count applies to live targets only"),
                                   (("-p", "1", "-i", "1ms"), "--interval must be 100ms or more"),
                                   (("-p", "1", "--window", "10000s"), "--window must be 3600 intervals or fewer"),
                                   (("-a", "-p", "1"), "cannot combine -a with other targets")):
            done = vesta_top(*arguments, check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    harness.main()
