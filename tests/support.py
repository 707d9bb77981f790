"""What Python tests share: where things are, how to run vesta, how to skip.

A test that cannot run here calls skip(reason). ctest then counts it as skipped, or, where VESTA_REQUIRE_ALL=1 says that
everything must run (as in CI), as failed. Files of unittest cases end with support.main(), which treats self.skipTest()
the same way.
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VESTA = Path(os.environ.get("VESTA") or ROOT / "build" / "vesta").resolve()
PROFILES = ROOT / "build" / "test-profiles"
SKIP_EXIT_CODE = 77
_under_main = False


def require_all():
    return os.environ.get("VESTA_REQUIRE_ALL", "") not in ("", "0")


def skip(reason):
    """Ends the test here: the single test under main(), else the whole file."""
    if _under_main:
        raise unittest.SkipTest(reason)
    if require_all():
        print(f"FAIL: would skip, but VESTA_REQUIRE_ALL is set: {reason}", flush=True)
        sys.exit(1)
    print(f"SKIP: {reason}", flush=True)
    sys.exit(SKIP_EXIT_CODE)


def need_command(name):
    """The path of a tool; skips when it is not installed."""
    path = shutil.which(name)
    if path is None:
        skip(f"'{name}' is not installed")
    return path


def profile(name):
    """The path of a profile that tests/profiles/make makes; skips when it cannot be made here."""
    made = subprocess.run(
        [sys.executable, ROOT / "tests" / "profiles" / "make", name], stderr=subprocess.PIPE, text=True, timeout=1200
    )
    if made.returncode != 0:
        raise AssertionError(f"tests/profiles/make {name} failed:\n{made.stderr}")
    if not (PROFILES / name).exists():
        skip(made.stderr.strip() or f"{name} was not made")
    return PROFILES / name


def vesta(*args, check=True, timeout=120, **options):
    """Runs vesta and returns the CompletedProcess (text); with check, any exit code but 0 fails the test."""
    command = [str(VESTA), *map(str, args)]
    options.setdefault("capture_output", True)
    options.setdefault("text", True)
    done = subprocess.run(command, timeout=timeout, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def main():
    """unittest.main() with our exit codes."""
    global _under_main
    _under_main = True
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    # A class that skips as a whole counts as skipped, not as run.
    if result.testsRun == 0 and not result.skipped:
        print("FAIL: there are no tests in this file")
        sys.exit(1)
    if result.skipped:
        for test, reason in result.skipped:
            print(f"skipped {test}: {reason}")
        if require_all():
            print("FAIL: VESTA_REQUIRE_ALL is set and tests were skipped")
            sys.exit(1)
        # Skipped only when nothing ran: a file with some real passes has passed.
        if len(result.skipped) >= result.testsRun:
            sys.exit(SKIP_EXIT_CODE)
    sys.exit(0)
