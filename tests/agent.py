"""A `vesta agent` or `vesta up` for tests: real, with its state in a folder that goes away with it."""

import os
import re
import urllib.error
import urllib.request

import support
from daemon import Daemon, free_port


def need_sampling():
    """Skips where this user may not sample."""
    if os.geteuid() != 0:
        support.skip("sampling needs root")


class Agent(Daemon):
    """`state` given: kept when the agent ends, so that it can be started again."""

    def __init__(self, *options, state=None, environment=None, role="agent"):
        # LeakSanitizer looks by tracing, which a running agent has given up the right to.
        sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
        super().__init__(role, options, state, {"ASAN_OPTIONS": sanitizer, **(environment or {})})
        self.state = self.folder
        self.metrics_port = free_port()

    def command(self):
        return [str(support.VESTA), self.role, "--state", str(self.state), "--metrics", f"127.0.0.1:{self.metrics_port}",
                *self.options]

    def ready_url(self):
        return f"http://127.0.0.1:{self.metrics_port}/healthz"

    def health(self):
        """(status, text) of /healthz."""
        try:
            with urllib.request.urlopen(self.ready_url(), timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

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
