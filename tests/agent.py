"""A `vesta agent` or `vesta up` for tests: real, with its state in a folder that goes away with it."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import support
from server import free_port

SECONDS = 60


def need_sampling():
    """Skips where this user may not sample."""
    if os.geteuid() != 0:
        support.skip("sampling needs root")


class Agent:
    """Use as a context manager. `state` given: kept when the agent ends, so that it can be started again."""

    def __init__(self, *options, state=None, environment=None, role="agent"):
        self.options = list(map(str, options))
        self.own_state = state is None
        self.state = Path(state or tempfile.mkdtemp(prefix="vesta-agent-"))
        # LeakSanitizer looks by tracing, which a running agent has given up the right to.
        sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
        self.environment = {**os.environ, "ASAN_OPTIONS": sanitizer, **(environment or {})}
        self.role = role
        self.metrics_port = free_port()
        self.log_path = self.state.parent / f"{self.state.name}.agent.log"
        self.process = None

    def command(self):
        return [str(support.VESTA), self.role, "--state", str(self.state), "--metrics", f"127.0.0.1:{self.metrics_port}",
                *self.options]

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"the {self.role} ended with {self.process.returncode}:\n{self.log()}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/healthz", timeout=5):
                    return self
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.02)
        raise AssertionError(f"the {self.role} is not up after {SECONDS} s:\n{self.log()}")

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def metrics(self):
        """{name or name{labels}: value} of what it tells about itself."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    def metric(self, name, **labels):
        """The sum of all that have the name and these labels."""
        found = [value for key, value in self.metrics().items()
                 if key.split("{")[0] == name and all(f'{k}="{v}"' in key for k, v in labels.items())]
        if not found:
            raise AssertionError(f"there is no {name} {labels} in:\n" + "\n".join(self.metrics()))
        return sum(found)

    def taken(self):
        """How many samples it took from its start to its end, as it says when it ends."""
        return int(re.findall(r"\bsamples=\"?(\d+)", self.log())[-1])

    def stop(self, how=signal.SIGTERM):
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the {self.role} did not end:\n{self.log()}") from None
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
            if self.own_state:
                shutil.rmtree(self.state, ignore_errors=True)
            self.log_path.unlink(missing_ok=True)
