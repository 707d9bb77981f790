"""The completion scripts in the shells they are for: they load, and they complete."""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import support  # noqa: E402


def in_shell(shell, script, *args):
    done = subprocess.run([support.need_command(shell), *args, "-c", script], capture_output=True, text=True, timeout=60)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{shell}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Completion(unittest.TestCase):
    def test_fish_completes_commands_flags_and_choices(self):
        load = f"{support.VESTA} completion fish | source; "
        self.assertIn("top\t", in_shell("fish", load + 'complete -C "vesta to"', "--no-config"))
        self.assertIn("--focus\t", in_shell("fish", load + 'complete -C "vesta top --foc"', "--no-config"))
        self.assertIn("function\t", in_shell("fish", load + 'complete -C "vesta top --granularity fu"', "--no-config"))

    def test_zsh_loads_the_script_and_registers_it(self):
        load = f"autoload -Uz compinit; compinit -u -D; source <({support.VESTA} completion zsh); print ${{_comps[vesta]}}"
        self.assertEqual(in_shell("zsh", load, "-f").strip(), "_vesta")

    def test_bash_completes_commands(self):
        script = f"source <({support.VESTA} completion bash); COMP_WORDS=(vesta conv); COMP_CWORD=1; _vesta; echo ${{COMPREPLY[@]}}"
        self.assertEqual(in_shell("bash", script).strip(), "convert")


if __name__ == "__main__":
    support.main()
