"""The completion scripts in the shells they are for: they load, and they complete."""

import http.server
import json
import os
import re
import subprocess
import sys
import threading
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

    def test_bash_completes_processes_types_and_words(self):
        load = f"vesta() {{ {support.VESTA} \"$@\"; }}; export -f vesta; export VESTA_SERVER=http://127.0.0.1:1; source <(vesta completion bash); "

        def complete(*words):
            quoted = " ".join(f"'{word}'" for word in ("vesta", *words))
            return in_shell("bash", load + f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _vesta 2>/dev/null; "
                            'printf "%s\\n" "${COMPREPLY[@]}"').split()

        self.assertIn(str(os.getpid()), complete("record", "--pid", str(os.getpid())[:2]))
        self.assertEqual(complete("top", "--type", "mut"), ["mutex", "mutex-holder"])
        self.assertEqual(complete("query", "ser"), ["series"])
        self.assertEqual(complete("top", "gorou"), ["goroutine{"])

    def test_labels_and_values_come_from_the_server(self):
        asked = []

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path.split("?")[0])
                body = {"/api/v1/labels": {"labels": ["service_name", "host"]},
                        "/api/v1/values/service_name": {"values": ["checkout", "cart", 'odd"one', "$(reboot)", "c`x`"]}}.get(asked[-1], {})
                text = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()

            def offered(typed):
                return support.vesta("completion", "selector", typed, "--server",
                                     f"http://127.0.0.1:{server.server_port}").stdout.splitlines()

            self.assertEqual(offered("cpu{ser"), ['cpu{service_name="'])
            self.assertEqual(offered('cpu{service_name="c'), ['cpu{service_name="checkout"', 'cpu{service_name="cart"'])
            self.assertEqual(offered('cpu{host="x"'), [])
            server.shutdown()
        self.assertEqual(support.vesta("completion", "selector", "cpu{", "--server", "http://127.0.0.1:1").stdout, "")

    def test_fish_completes_processes(self):
        load = f"function vesta; {support.VESTA} $argv; end; vesta completion fish | source; "
        found = in_shell("fish", load + f'complete -C "vesta record --pid {str(os.getpid())[:2]}"', "--no-config")
        self.assertIn(f"{os.getpid()}\t", found)


class Manual(unittest.TestCase):
    def test_groff_reads_it_without_a_warning(self):
        page = support.vesta("man").stdout
        done = subprocess.run([support.need_command("groff"), "-man", "-ww", "-Tutf8", "-K", "utf8"], input=page, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        plain = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
        for words in ("vesta top [SOURCE…]", "--tag-focus FILTER", "vesta config init [FILE]", "VESTA_SERVER"):
            self.assertIn(words, plain)


if __name__ == "__main__":
    support.main()
