"""A process of Vesta that runs until it is told to end: what tests of servers and agents share."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    """Use as a context manager. `folder` given: kept when it ends, so that it can be started again.

    A subclass has `role` (the command), `command()` and `ready_url()`, which answers as soon as it is up.
    """

    def __init__(self, role, options, folder, environment):
        self.role = role
        self.options = list(map(str, options))
        self.own_folder = folder is None
        self.folder = Path(folder or tempfile.mkdtemp(prefix=f"vesta-{role}-"))
        self.environment = {**os.environ, **(environment or {})}
        self.log_path = self.folder.parent / f"{self.folder.name}.{role}.log"
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment)
        try:
            self.wait_until_up()
        except BaseException:
            # The caller never gets to end it, and whatever is left running fails the tests that follow.
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            raise
        return self

    def wait_until_up(self):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"the {self.role} ended with {self.process.returncode}:\n{self.log()}")
            try:
                with urllib.request.urlopen(self.ready_url(), timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.02)
        raise AssertionError(f"the {self.role} is not up after {SECONDS} s:\n{self.log()}")

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def stop(self, how=signal.SIGTERM):
        """Ends it and returns the exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the {self.role} did not end in {SECONDS} s:\n{self.log()}") from None
        self.process = None
        return code

    def kill(self):
        return self.stop(signal.SIGKILL)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            if self.own_folder:
                shutil.rmtree(self.folder, ignore_errors=True)
            self.log_path.unlink(missing_ok=True)
