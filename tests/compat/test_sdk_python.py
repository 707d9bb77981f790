"""A Python program with Pyroscope's SDK pushes to a server of ours."""

import unittest

import sdk
import support

RELEASE = "1.4.0"


class Python(unittest.TestCase):
    def test_cpu_time_arrives_with_tags(self):
        interpreter = sdk.python(f"python-{RELEASE}", f"pyroscope-io=={RELEASE}")
        with sdk.Server() as server:
            result = sdk.run([interpreter, sdk.CLIENTS / "python/burn.py", server.url])
            types = server.types()
            self.assertIn(sdk.CPU, types)
            everything = '{service_name="compat.python", region="south"}'
            # It sends every ten seconds, and what came after the last time is lost with the program.
            sdk.check_burn(self, server, sdk.CPU, everything, result["busy_ns"], least=0.3)
            heavy = server.flame(sdk.CPU, '{service_name="compat.python", path="/heavy"}')
            self.assertGreater(sdk.share(heavy, "heavy"), 0.9)


support.main()
