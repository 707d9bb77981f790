"""Programs for a host that does many different things: what each does is real work of its own, without end."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/system"), str(ROOT / "tests/compat")]

from harness import die_with_parent  # noqa: E402

GO_SOURCE = """package main

import ("encoding/json"; "sort"; "strings")

func main() {
	for {
		words := map[string]int{}
		for i := 0; i < 5000; i++ { words[strings.Repeat(string(rune('a'+i%26)), i%17+1)] += i }
		keys := make([]string, 0, len(words))
		for k := range words { keys = append(keys, k) }
		sort.Strings(keys)
		text, _ := json.Marshal(words)
		_ = json.Unmarshal(text, &words)
	}
}
"""
RUST_SOURCE = """use std::collections::BTreeMap;
pub fn count(text: &str) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for word in text.split_whitespace() { *words.entry(word.to_lowercase()).or_insert(0) += 1; }
    words
}
fn main() { println!("{:?}", count("one two two three")); }
"""
CXX_SOURCE = """#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main(int argc, char** argv) {
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < argc; ++i) m[argv[i]].push_back(i);
  std::regex r("a(b|c)*d");
  return std::any_of(m.begin(), m.end(), [&](auto& e) { return std::regex_match(e.first, r); });
}
"""
PERL = "while(1){my %h;$h{$_%97}.=chr(65+$_%26) for 1..20000;my $s=join',',map{$h{$_}}sort keys %h;$s=~s/A(B|C)*D/x/g}"
RUBY = "loop{h=Hash.new(0);20000.times{|i|h[(i*7%131).to_s]+=i};h.sort_by{|k,v|-v}.map(&:first).join(',').gsub(/1+/,'x')}"
AWK = "BEGIN{while(1){delete a;for(i=0;i<50000;i++)a[i%1001]=a[i%1001] i;n=length(a)}}"
SQL = "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<300000) SELECT count(*),sum(x*x%7) FROM c GROUP BY x%13;"
BASH = "while :; do s=; for ((i=0;i<2000;i++)); do s+=$((i*i%97)),; done; t=${s//1/x}; done"


def again(command):
    """A shell line over and over: processes that come and go."""
    return ["bash", "-c", f"while :; do {command}; done >/dev/null 2>&1"]


class Mix:
    """The programs that this host has, with what they need in a folder. Use as a context manager; starts them all."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.processes = []
        self.names = []
        self.left_out = []

    def path(self, name, text=None):
        path = self.folder / name
        if text is not None:
            path.write_text(text)
        return shlex.quote(str(path))

    def commands(self):
        """(name, what must be installed, command)"""
        load = ROOT / "bench/profiler"
        data = self.path("data")
        Path(self.folder / "data").write_bytes(b"".join(
            f"{i * 2654435761 % 99991:05d} line {i} of some text that compresses\n".encode() for i in range(40000)))
        rust, cxx = self.path("load.rs", RUST_SOURCE), self.path("load.cc", CXX_SOURCE)
        yield "node", "node", ["node", load / "node_load.js"]
        yield "java", "java", ["java", "-Xmx64m", load / "JavaLoad.java"]
        yield "python3", "python3", ["python3", load / "python_load.py"]
        yield "perl", "perl", ["perl", "-e", PERL]
        yield "ruby", "ruby", ["ruby", "-e", RUBY]
        if shutil.which("go"):
            self.path("load.go", GO_SOURCE)
            subprocess.run(["go", "build", "-o", self.folder / "go_load", self.folder / "load.go"], check=True,
                           env={**os.environ, "GOFLAGS": "-mod=mod", "GOCACHE": str(self.folder / "go-cache"), "GOTOOLCHAIN": "local"})
        yield "go", "go", [self.folder / "go_load"]
        yield "awk", "awk", ["awk", AWK]
        yield "bash", "bash", ["bash", "-c", BASH]
        yield "sqlite3", "sqlite3", again(f"sqlite3 :memory: {shlex.quote(SQL)}")
        yield "openssl", "openssl", again("openssl speed -seconds 5 sha256 rsa2048 aes-128-cbc")
        yield "gzip", "gzip", again(f"gzip -9 <{data}")
        yield "xz", "xz", again(f"xz -T1 <{data}")
        yield "zstd", "zstd", again(f"zstd -12 -T1 <{data}")
        yield "bzip2", "bzip2", again(f"bzip2 <{data}")
        yield "sort", "sort", again(f"sort --parallel=1 -k4 {data}")
        yield "git", "git", again(f"git -C {shlex.quote(str(ROOT))} log --stat -n 60 -- src")
        yield "jq", "jq", again("jq -n '[range(60000)]|map({a:.,b:(.|tostring)})|group_by(.a%7)|length'")
        yield "clang", "clang", again(f"clang -O2 -x c++ -c {cxx} -o /dev/null")
        yield "rustc", "rustc", again(f"rustc -O --emit=obj -o {self.path('load.o')} {rust}")
        yield "g++ (a compiler storm)", "g++", again(f"g++ -O1 -c {cxx} -o /dev/null & gcc -O1 -x c -c /dev/null -o /dev/null; wait")
        if shutil.which("postgres") and shutil.which("setpriv") and os.geteuid() == 0:
            yield "postgres", "postgres", self.postgres()

    def postgres(self):
        """A server of its own, which refuses to run as root, and a client that keeps it busy."""
        cluster = self.folder / "postgres"
        shutil.rmtree(cluster, ignore_errors=True)
        cluster.mkdir()
        os.chown(cluster, 65534, 65534)
        self.folder.chmod(0o755)
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/tmp"]
        programs = Path(shutil.which("postgres")).resolve().parent
        subprocess.run([*as_nobody, programs / "initdb", "-D", cluster, "-A", "trust", "-U", "nobody"], check=True,
                       stdout=subprocess.DEVNULL, cwd="/")
        self.start("postgres server", [*as_nobody, programs / "postgres", "-D", cluster, "-k", cluster, "-c", "listen_addresses="],
                   cwd="/")
        query = "SELECT count(*), sum(x*x % 7) FROM generate_series(1, 200000) x GROUP BY x % 13"
        return [*as_nobody, *again(f"{programs}/psql -h {cluster} -U nobody postgres -c {shlex.quote(query)} || sleep 0.2")]

    def start(self, name, command, **options):
        self.processes.append(subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL, preexec_fn=lead_group, **options))

    def __enter__(self):
        try:
            for name, needed, command in self.commands():
                if shutil.which(needed):
                    self.start(name, command)
                    self.names.append(name)
                else:
                    self.left_out.append(name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()


def lead_group():
    """So that what it starts can be ended with it."""
    os.setpgid(0, 0)
    die_with_parent()
