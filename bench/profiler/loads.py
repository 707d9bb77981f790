"""What is profiled: programs that keep two CPUs busy for as long as they are wanted."""

import os
import pathlib
import shutil
import signal
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
# Stacks of these are judged: what the others run is compiled while they run, and is judged elsewhere.
JUDGED = ("deep_load", "clang", "python3")


class Load:
    """Commands that run side by side. One that ends is started again (by a shell: no time of ours)."""

    def __init__(self, name, what, commands):
        self.name = name
        self.what = what
        self.commands = commands
        self.running = []

    def __enter__(self):
        for command in self.commands:
            self.running.append(subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, start_new_session=True))
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends all and returns what they printed."""
        for process in self.running:
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        texts = []
        for process in self.running:
            try:
                texts.append(process.communicate(timeout=10)[0])
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        self.running = []
        return texts


def large_source(folder):
    """A translation unit that keeps the compiler's front end and optimiser busy for a while."""
    path = folder / "large.cc"
    headers = ["algorithm", "deque", "functional", "iostream", "map", "random", "regex", "set", "sstream",
               "string", "thread", "tuple", "unordered_map", "variant", "vector"]
    text = "".join(f"#include <{header}>\n" for header in headers)
    for i in range(60):
        text += f"""
struct Key{i} {{ int a; std::string b; bool operator<(const Key{i}& o) const {{ return std::tie(a, b) < std::tie(o.a, o.b); }} }};
int work{i}(std::istream& in) {{
  std::map<Key{i}, std::vector<std::variant<int, std::string, double>>> all;
  for (std::string line; std::getline(in, line);) {{
    std::smatch match;
    if (std::regex_match(line, match, std::regex("([a-z]+)=(.*){i}"))) all[Key{i}{{{i}, match[1]}}].push_back(match[2].str());
  }}
  std::vector<std::pair<size_t, std::function<int(int)>>> calls;
  for (auto& [key, values] : all) calls.emplace_back(values.size(), [&key](int x) {{ return x + key.a; }});
  std::sort(calls.begin(), calls.end(), [](auto& x, auto& y) {{ return x.first < y.first; }});
  int sum = 0;
  for (auto& [size, call] : calls) sum += call(static_cast<int>(size));
  return sum;
}}
"""
    path.write_text(text)
    return path


def all_loads(bench_dir, data):
    """The loads by name, with what this machine has."""
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    again = lambda command: ["sh", "-c", f"while :; do {command}; done"]
    compile_it = again(f"{clang} -O2 -std=c++20 -c {large_source(data)} -o /dev/null")
    python = [PYTHON, str(HERE / "python_load.py")]
    deep = str(bench_dir / "deep_load")
    loads = [
        Load("threads", "a C++ program without frame pointers, 2 threads 30 frames deep", [[deep, "2"]]),
        Load("clang", "2 × clang++ -O2 of a large file, again and again", [compile_it, compile_it]),
        Load("python", "2 × python3", [python, python]),
    ]
    mix = [[deep, "1"], compile_it, python]
    words = ["the C++ program with 1 thread", "clang++", "python3"]
    if shutil.which("node"):
        mix.append(["node", str(HERE / "node_load.js")])
        words.append("node")
    if shutil.which("java"):
        mix.append(["java", "-Xmx256m", str(HERE / "JavaLoad.java")])
        words.append("java")
    loads.append(Load("mix", "together: " + ", ".join(words), mix))
    return {load.name: load for load in loads}
