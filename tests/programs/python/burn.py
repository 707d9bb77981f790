"""Does a known amount of work and prints as JSON what it did.

Usage: burn.py plain SECONDS        burn on the main thread, for an outside sampler (py-spy, pyinstrument)
       burn.py cpu|wall OUT.pb.gz   burn on the main thread under zprofile, which writes pprof
"""

import json
import sys
import threading
import time


def heavy(x, scale):
    for _ in range(6000 * scale):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


def medium(x, scale):
    for _ in range(3000 * scale):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


def light(x, scale):
    for _ in range(1000 * scale):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


def burn(seconds):
    """Burns at 60:30:10 in rounds of varying length, which do not fall into step with the sampler."""
    start = time.monotonic_ns()
    x, dice = 1, 42
    while time.monotonic_ns() - start < seconds * 1e9:
        dice = (dice * 1103515245 + 12345) & 0x7FFFFFFF
        scale = 1 + (dice >> 16) % 8
        x = heavy(x, scale)
        x = medium(x, scale)
        x = light(x, scale)
    return {"elapsed_ns": time.monotonic_ns() - start, "checksum": x}


def sample(kind, out, seconds=2.5):
    """zprofile samples the main thread from its own timer while profile() sleeps in another thread."""
    if kind == "cpu":
        from zprofile.cpu_profiler import CPUProfiler

        profiler = CPUProfiler(period_ms=5)
    else:
        from zprofile.wall_profiler import WallProfiler

        profiler = WallProfiler(period_ms=5)
        profiler.register_handler()
    done = {}
    waiter = threading.Thread(target=lambda: done.update(body=profiler.profile(seconds)))
    waiter.start()
    result = burn(seconds + 0.2)
    waiter.join()
    with open(out, "wb") as file:
        file.write(done["body"])
    return result


def main():
    kind, argument = sys.argv[1:3]
    if kind == "plain":
        result = burn(float(argument))
    elif kind in ("cpu", "wall"):
        result = sample(kind, argument)
    else:
        sys.exit(__doc__)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
