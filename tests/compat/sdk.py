"""What tests of other people's profiling SDKs share: a client program runs against a real server, and what it measured is
found there, under the type, the labels and about the total that it should have."""

import fcntl
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import server  # noqa: E402
import support  # noqa: E402

Server = server.Server

CLIENTS = Path(__file__).resolve().parent / "clients"
TOOLS = support.ROOT / "build" / "test-clients"
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"


def fetch(command, what, **options):
    """Runs an installer; skips where the package cannot be had."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=900, **options)
    if done.returncode != 0:
        problem = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        support.skip(f"cannot install {what}: {problem[-1]}")


def python(name, *packages):
    """A Python with these packages of PyPI; installed once."""
    home = TOOLS / name
    stamp = home / "complete"
    TOOLS.mkdir(parents=True, exist_ok=True)
    with open(TOOLS / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run beside each other
        if not stamp.exists():
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=120)
            fetch([home / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
                  " and ".join(packages))
            stamp.touch()
    return home / "bin/python"


def otlp_python():
    """One that has the official classes of OTLP, and gRPC."""
    return python("otlp", "opentelemetry-proto==1.45.0", "protobuf>=6,<7", "grpcio>=1.60,<2")


def run(command, **options):
    """Runs a client to its end, and returns the JSON of its last line."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def share(flame, name):
    """The part of the total that a function and what it called have."""
    totals, total = flame
    found = [values[1] for key, values in totals.items() if name in key]
    if not found:
        raise AssertionError(f"no function '{name}' among {sorted(totals)[:40]}")
    return max(found) / total


def check_burn(case, server, type_id, selector, cpu_ns, heavy="heavy", light="light", least=0.5):
    """heavy and light share the CPU three to one, and nearly all of it is there."""
    flame = server.flame(type_id, selector)
    case.assertGreater(flame[1], least * cpu_ns, f"{selector} has too little")
    case.assertLess(flame[1], 1.15 * cpu_ns, f"{selector} has more than was used")
    case.assertAlmostEqual(share(flame, heavy), 0.75, delta=0.12)
    case.assertAlmostEqual(share(flame, light), 0.25, delta=0.12)
