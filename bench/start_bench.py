#!/usr/bin/env python3
"""What a start of a command costs: CPU time, peak memory, page faults and mapped libraries.

Prints markdown. Usage: bench/start_bench.py [--runs N]
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command):
    """CPU time in ms, peak resident memory in MB and page faults of one run, started by a small program."""
    done = subprocess.run(["/usr/bin/time", "-f", "%U %S %M %R", *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=True)
    _, _, kilobytes, faults = done.stderr.split()[-4:]
    # time(1) prints hundredths of a second: the kernel's own figure is finer.
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, _, usage = os.wait4(pid, 0)
    return (usage.ru_utime + usage.ru_stime) * 1000, int(kilobytes) / 1024, int(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5 if os.environ.get("VESTA_BENCH_QUICK") else 50)
    options = parser.parse_args()
    vesta = os.environ.get("VESTA", str(ROOT / "build/vesta"))
    libraries = len(subprocess.run(["ldd", vesta], capture_output=True, text=True, check=True).stdout.splitlines())
    print("| command | CPU, median | peak memory | page faults | libraries |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "small.folded"
        profile.write_text("main;work;inner 3\nmain;idle 4\n")
        for words in (["version"], ["top", str(profile)]):
            results = [run([vesta, *words]) for _ in range(options.runs)]
            cpu, memory, faults = (statistics.median(column) for column in zip(*results))
            print(f"| `vesta {words[0]}` | {cpu:.1f} ms (budget 10) | {memory:.1f} MB (budget 15) | {faults:.0f} | {libraries} |")


if __name__ == "__main__":
    main()
