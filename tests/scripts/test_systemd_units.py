"""The systemd units are understood by systemd, and let the services do what they must."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402

UNITS = sorted((support.ROOT / "deploy" / "systemd").glob("*.service"))


def settings(text, name):
    return [line.split("=", 1)[1] for line in text.splitlines() if line.startswith(name + "=")]


class SystemdUnits(unittest.TestCase):
    def test_there_is_one_for_each_role(self):
        self.assertEqual([unit.name for unit in UNITS], ["vesta-agent.service", "vesta-server.service"])

    def test_systemd_understands_them(self):
        analyze = support.need_command("systemd-analyze")
        with tempfile.TemporaryDirectory() as folder:
            copies = []
            for unit in UNITS:
                copy = Path(folder) / unit.name
                # Vesta need not be installed here.
                copy.write_text(unit.read_text().replace("/usr/bin/vesta", "/bin/true"))
                copies.append(copy)
            done = subprocess.run([analyze, "verify", "--man=no", *copies], capture_output=True, text=True, timeout=100)
            about_ours = [line for line in done.stderr.splitlines() if "vesta" in line]
            self.assertEqual(about_ours, [])
            if "Failed to" in done.stderr and done.returncode != 0:
                support.skip(f"systemd-analyze does not work here: {done.stderr.strip()}")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_agent_may_have_what_it_keeps(self):
        header = (support.ROOT / "src" / "agent" / "hardening" / "reduce_privileges.h").read_text()
        kept = re.findall(r"Capability::k(\w+),", header)
        self.assertGreater(len(kept), 5)
        names = {"CAP_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper() for name in kept}
        bounding = set(" ".join(settings(UNITS[0].read_text(), "CapabilityBoundingSet")).split())
        self.assertLessEqual(names, bounding)

    def test_they_are_hardened(self):
        for unit in UNITS:
            text = unit.read_text()
            with self.subTest(unit=unit.name):
                self.assertEqual(settings(text, "ProtectSystem"), ["strict"])
                self.assertEqual(settings(text, "NoNewPrivileges"), ["yes"])
                self.assertEqual(settings(text, "Restart"), ["on-failure"])
                self.assertTrue(settings(text, "StateDirectory"))
        self.assertTrue(settings(UNITS[0].read_text(), "WatchdogSec"))


if __name__ == "__main__":
    support.main()
