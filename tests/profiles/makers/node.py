"""Node: @datadog/pprof, which samples from inside the program."""

import shutil
from pathlib import Path

from .common import PROGRAMS, Maker, about, burn_truth, fetch, need, run_json

SOURCE = PROGRAMS / "node"


def modules(shop):
    npm = need("npm", "npm")
    folder = shop.tools / "node"
    lock = (SOURCE / "package-lock.json").read_text()
    if shop.needs_install(folder, lock):
        folder.mkdir(exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / name, folder)
        # The package ships its native parts built; no script of it needs to run.
        fetch([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], "@datadog/pprof", cwd=folder)
        shop.mark_installed(folder, lock)
    return folder / "node_modules"


def profile(shop, kind, out):
    node = need("node", "nodejs")
    return run_json([node, SOURCE / "burn.js", kind, out], env={"NODE_PATH": str(modules(shop))})


def make_time(shop, work):
    result = profile(shop, "time", work / "node-time.pb.gz")
    return {"node-time.pb.gz": burn_truth(
        "@datadog/pprof", "", result["process_cpu_ns"], 5_000_000, type_name="wall")}


def make_heap(shop, work):
    result = profile(shop, "heap", work / "node-heap.pb.gz")
    # V8 samples allocations, about one in 32 KiB, and scales them up.
    return {"node-heap.pb.gz": {"made_by": "@datadog/pprof", "types": {"space": {
        "unit": "bytes", "cum": {"^keepArrays\\b": about(result["kept_bytes"], 0.2)}}}}}


def _maker(name, make):
    return Maker([name], make, [SOURCE, Path(__file__)])


MAKERS = [_maker("node-time.pb.gz", make_time), _maker("node-heap.pb.gz", make_heap)]
