"""A Rust program with Pyroscope's SDK pushes to a server of ours."""

import os
import unittest

import sdk
import support


class Rust(unittest.TestCase):
    def test_cpu_time_arrives_with_names(self):
        cargo = support.need_command("cargo")
        target = sdk.TOOLS / "rust"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
        sdk.fetch([cargo, "build", "--quiet", "--locked"], "the crate pyroscope", cwd=sdk.CLIENTS / "rust", env=environment)
        with sdk.Server() as server:
            result = sdk.run([target / "debug/burn", server.url])
            types = server.types()
            self.assertIn(sdk.CPU, types)
            everything = '{service_name="compat.rust", region="up"}'
            sdk.check_burn(self, server, sdk.CPU, everything, result["cpu_ns"], "burn::heavy", "burn::light")


support.main()
