#!/usr/bin/env python3
"""An agent opens the symbol table of a program that stays busy once, and is not behind with naming."""

import contextlib
import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]
import agent  # noqa: E402
import harness  # noqa: E402
from harness import RecordingTest, compile_program, running, wait_until  # noqa: E402
import support  # noqa: E402

CONFIG = """
agent:
  profiling: {{duration: 1s, upload_interval: 1s}}
  limits: {{cpu: 100%, memory: 200MiB}}
  targets: {{include: [{targets}]}}
  exporters:
    - {{type: files, name: files, directory: "{folder}"}}
"""
PERL = "while(1){my %h;$h{$_%97}.=chr(65+$_%26) for 1..20000;join',',sort values %h}"
WINDOWS = 5


class SymbolTables(RecordingTest):
    def test_tables_in_use_are_opened_once(self):
        agent.need_sampling()
        load = compile_program(self.folder, "cpu/shares.c")
        perl, python = support.need_command("perl"), os.path.realpath(sys.executable)
        targets = ", ".join(f'{{executable: "{os.path.realpath(path)}"}}' for path in (load, perl, python))
        config = self.folder / "vesta.yaml"
        config.write_text(CONFIG.format(targets=targets, folder=self.folder / "profiles"))
        with contextlib.ExitStack() as stack:
            stack.enter_context(running(load))
            stack.enter_context(running(perl, "-e", PERL))
            stack.enter_context(running(python, "-c", "while True: sorted(str(i) for i in range(9999))"))
            profiler = stack.enter_context(agent.Agent("--config", config))
            self.wait_for_windows(profiler, WINDOWS)
            opens = profiler.metric("vesta_agent_symbol_table_opens_total")
            self.assertGreater(opens, 0)
            self.assertAlmostEqual(profiler.metric("vesta_agent_symbol_table_budget_bytes"), 200 * 2 ** 20 / 5, delta=100)
            self.wait_for_windows(profiler, WINDOWS)
            # A library that is met for the first time may come late, but none is opened again and again.
            self.assertLessEqual(profiler.metric("vesta_agent_symbol_table_opens_total"), opens + 5)
            self.assertEqual(profiler.metric("vesta_agent_symbol_tables"),
                             profiler.metric("vesta_agent_symbol_table_opens_total")
                             - profiler.metric("vesta_agent_symbol_table_closes_total"))
            self.assertGreater(profiler.metric("vesta_agent_symbol_table_bytes"), 0)
            wait_until(lambda: profiler.metric("vesta_agent_oldest_unnamed_sample_seconds") < 10, "naming keeps up")
            self.assertEqual(profiler.stop(), 0)

    @staticmethod
    def wait_for_windows(profiler, count):
        goal = profiler.metric("vesta_agent_windows_total") + count
        wait_until(lambda: profiler.metric("vesta_agent_windows_total") >= goal, f"{count} windows")


if __name__ == "__main__":
    harness.main()
