"""A Node program with Pyroscope's SDK pushes to a server of ours."""

import shutil
import unittest

import sdk
import support


def client():
    home = sdk.TOOLS / "node"
    home.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "burn.js"):
        shutil.copy(sdk.CLIENTS / "node" / name, home / name)
    if not (home / "node_modules" / "@pyroscope").exists():
        sdk.fetch([support.need_command("npm"), "ci", "--no-audit", "--no-fund"], "@pyroscope/nodejs", cwd=home)
    return home


class Node(unittest.TestCase):
    def test_wall_time_and_heap_arrive(self):
        home = client()
        with sdk.Server() as server:
            result = sdk.run([support.need_command("node"), "burn.js", server.url], cwd=home)
            types = server.types()
            wall = "wall:wall:nanoseconds:wall:nanoseconds"
            self.assertIn(wall, types)
            everything = '{service_name="compat.node", region="east"}'
            flame = server.flame(wall, everything)
            self.assertGreater(flame[1], 0.3 * result["cpu_ns"])
            self.assertAlmostEqual(sdk.share(flame, "heavy") / sdk.share(flame, "light"), 3, delta=1)
            heaps = [name for name in types if "space" in name]
            self.assertTrue(heaps, types)
            flame = server.flame(heaps[0], everything)
            self.assertTrue(any("keepObjects" in name for name in flame[0]), list(flame[0])[:50])


support.main()
