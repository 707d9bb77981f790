"""A Java program under Pyroscope's agent pushes JFR to a server of ours."""

import os
import unittest

import sdk
import support

RELEASE = "2.1.2"


def agent():
    jar = sdk.TOOLS / f"agent-{RELEASE}.jar"
    if not jar.exists():
        sdk.fetch([support.need_command("mvn"), "-q", "-B", "dependency:copy", f"-DoutputDirectory={sdk.TOOLS}",
                   f"-Dartifact=io.pyroscope:agent:{RELEASE}"], "io.pyroscope:agent")
    return jar


class Java(unittest.TestCase):
    def test_cpu_time_and_allocations_arrive(self):
        java, compiler = support.need_command("java"), support.need_command("javac")
        sdk.TOOLS.mkdir(parents=True, exist_ok=True)
        jar = agent()
        classes = sdk.TOOLS / "java-classes"
        sdk.fetch([compiler, "-d", classes, sdk.CLIENTS / "java/Burn.java"], "Burn.java")
        with sdk.Server() as server:
            environment = {
                **os.environ, "PYROSCOPE_APPLICATION_NAME": "compat.java", "PYROSCOPE_SERVER_ADDRESS": server.url,
                "PYROSCOPE_UPLOAD_INTERVAL": "2s", "PYROSCOPE_FORMAT": "jfr", "PYROSCOPE_PROFILER_EVENT": "itimer",
                "PYROSCOPE_PROFILER_ALLOC": "64k", "PYROSCOPE_LABELS": "region=west"}
            result = sdk.run([java, f"-javaagent:{jar}", "-cp", classes, "Burn"], env=environment)
            types = server.types()
            self.assertIn(sdk.CPU, types)
            everything = '{service_name="compat.java", region="west"}'
            sdk.check_burn(self, server, sdk.CPU, everything, result["cpu_ns"], "Burn.heavy", "Burn.light")
            allocated = "memory:alloc_in_new_tlab_bytes:bytes:space:bytes"
            self.assertIn(allocated, types)
            self.assertGreater(sdk.share(server.flame(allocated, everything), "Burn.allocate"), 0.5)


support.main()
