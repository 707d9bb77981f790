#!/usr/bin/env python3
"""Configurations as people write them: an agent starts with the documented ones as they are, and says what is wrong with others."""

import re
from pathlib import Path

import harness
from harness import RecordingTest, support, wait_until

import agent

FULL = """
agent:
  profiling:
    enabled: true

    # Sampling rate in Hz
    sample_rate: 99  # 99 Hz avoids aliasing with timers

    # Profile types
    cpu: true          # On-CPU time
    off_cpu: true      # Off-CPU waiting time
    memory: true       # Heap allocations
    mutex: true        # Lock contention (Go, Java)
    block: true        # Blocking operations (Go)
    goroutine: true    # Goroutine stacks (Go only)

    # Duration of each profile sample
    duration: 10s

    # How often to upload profiles
    upload_interval: 60s

    # Symbol resolution
    symbols:
      demangle_rust: true
      demangle_cpp: true
      include_kernel: false  # Include kernel symbols

    # Filtering
    filters:
      # Minimum samples to include
      min_samples: 1

      # Exclude system functions
      exclude_patterns:
        - "runtime.*"  # Go runtime
        - "java.lang.*"  # Java internals
"""
JAVA = """
profiling:
  enabled: true
  cpu:
    enabled: true
  # Enable Java symbol resolution for eBPF profiles
  java_ebpf:
    enabled: true
    agent_jar_path: "/opt/perf-map-agent/attach-main.jar"
    agent_lib_path: "/opt/perf-map-agent/libperfmap.so"
    refresh_interval: 60s
    unfold_all: true
    dotted_class: true
  # Export as OTLP Logs (same format as JFR)
  log_export:
    enabled: true
    endpoint: "http://127.0.0.1:9/v1/logs"
"""
JFR = """
profiles:
  jfr:
    enabled: true
    input_dirs:
      - {folder}
    # Export as OTLP Logs for unified pipeline
    direct_export:
      log_export:
        enabled: true
        endpoint: "http://127.0.0.1:9/v1/logs"
"""


class AgentConfig(RecordingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        agent.need_sampling()

    def config(self, text):
        path = self.folder / "vesta.yaml"
        path.write_text(text)
        return path

    def test_documented_examples_start(self):
        for name, text, silent in (("full", FULL, ["memory", "goroutine"]),
                                   ("java", JAVA, ["java_ebpf"]), ("jfr", JFR.format(folder=self.folder), [])):
            with self.subTest(name), agent.Agent("--config", self.config(text)) as started:
                wait_until(lambda: started.metric("vesta_agent_samples_total") > 0, "samples are taken")
                for key in silent:
                    self.assertRegex(started.log(), rf"warning.*{key}.*no effect yet")
                self.assertNotRegex(started.log(), r"(cpu|mutex|block): has no effect")
                self.assertEqual(started.stop(), 0)

    def test_a_typo_is_answered_with_place_and_suggestion(self):
        done = support.vesta("agent", "--config", self.config(FULL.replace("sample_rate", "sampel_rate")), check=False)
        self.assertEqual(done.returncode, 2)
        line = FULL.splitlines().index("    sample_rate: 99  # 99 Hz avoids aliasing with timers") + 1
        self.assertRegex(done.stderr, rf"vesta\.yaml:{line}:5: .*sampel_rate")
        self.assertIn("sample_rate?", done.stderr)

    def test_two_agents_on_one_host(self):
        with agent.Agent("--endpoint", "127.0.0.1:9") as first:
            done = support.vesta("agent", "--state", self.folder / "second", "--metrics", "", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(str(first.process.pid), done.stderr)

    def test_it_gives_up_what_it_does_not_need(self):
        with agent.Agent("--endpoint", "127.0.0.1:9") as started:
            def capabilities():
                status = Path(f"/proc/{started.process.pid}/status").read_text()
                return {name: int(re.search(rf"^{name}:\t([0-9a-f]+)$", status, re.MULTILINE)[1], 16)
                        for name in ("CapEff", "CapBnd", "Seccomp", "NoNewPrivs")}
            found = wait_until(lambda: (now := capabilities())["Seccomp"] == 2 and now, "a filter for system calls")
            self.assertEqual(found["NoNewPrivs"], 1)
            sys_admin, sys_module = 1 << 21, 1 << 16
            self.assertEqual(found["CapEff"] & (sys_admin | sys_module), 0)
            wait_until(lambda: started.metric("vesta_agent_windows_total") > 0, "it goes on profiling", deadline=30)


if __name__ == "__main__":
    harness.main()
