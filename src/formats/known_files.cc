#include "formats/known_files.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "formats/common/json_document.h"
#include "formats/pprof/reader.h"

namespace vesta {
namespace {

// Keys that tell one JSON file from another stand near its start.
constexpr size_t kHeadBytes = 64 * 1024;

std::string_view head_of(std::string_view bytes) {
  return bytes.substr(0, kHeadBytes);
}

bool has(std::string_view bytes, std::string_view text) {
  return head_of(bytes).find(text) != std::string_view::npos;
}

bool is_json_with(std::string_view bytes, std::initializer_list<std::string_view> keys) {
  if (!starts_like_json_object(bytes)) return false;
  return std::ranges::all_of(keys, [&](std::string_view key) { return has(bytes, key); });
}

bool is_perf_data(std::string_view bytes) {
  return bytes.starts_with("PERFILE2") || bytes.starts_with("PERFFILE");
}

bool is_cpuprofile(std::string_view bytes) {
  return is_json_with(bytes, {"\"nodes\"", "\"callFrame\"", "\"hitCount\""});
}

bool is_heapprofile(std::string_view bytes) {
  return is_json_with(bytes, {"\"head\"", "\"callFrame\"", "\"selfSize\""});
}

bool is_heapsnapshot(std::string_view bytes) {
  return is_json_with(bytes, {"\"snapshot\"", "\"node_fields\""});
}

bool is_chrome_trace(std::string_view bytes) {
  if (is_json_with(bytes, {"\"traceEvents\""})) return true;
  // The same events without an object around them.
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '[' && has(bytes, "\"ph\"") &&
         has(bytes, "\"ts\"");
}

bool is_firefox_profile(std::string_view bytes) {
  return is_json_with(bytes, {"\"meta\"", "\"interval\""}) &&
         (has(bytes, "\"preprocessedProfileVersion\"") || has(bytes, "\"stackwalk\"") ||
          has(bytes, "\"processType\""));
}

bool is_callgrind(std::string_view bytes) {
  return bytes.starts_with("# callgrind format") ||
         (bytes.starts_with("version: 1") && has(bytes, "creator: callgrind"));
}

// The marshalled dictionary of Python's cProfile: its keys are tuples of file, line and function.
bool is_cprofile(std::string_view bytes) {
  constexpr uint8_t kReference = 0x80;  // a flag of marshal that any type may have
  const auto type_at = [&](size_t at) {
    return static_cast<char>(static_cast<uint8_t>(bytes[at]) & ~kReference);
  };
  return bytes.size() > 4 && type_at(0) == '{' && type_at(1) == ')' && bytes[2] == 3 &&
         std::string_view("zZaAuts").find(type_at(3)) != std::string_view::npos;
}

bool is_text_heap_profile(std::string_view bytes) {
  return bytes.starts_with("heap profile:") || bytes.starts_with("--- heap");
}

bool is_go_heap_text(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  return is_text_heap_profile(bytes) && line.find("@ heap/") != std::string_view::npos;
}

bool is_go_count_text(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  return line.find(" profile: total ") != std::string_view::npos ||
         bytes.starts_with("--- contention") || bytes.starts_with("--- mutex");
}

// "goroutine 1 [running]:"
bool is_goroutine_dump(std::string_view bytes) {
  if (!bytes.starts_with("goroutine ")) return false;
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  return line.find(" [") != std::string_view::npos && line.ends_with("]:");
}

bool is_jemalloc_heap(std::string_view bytes) {
  return bytes.starts_with("heap_v2/");
}

bool is_gperftools_cpu(std::string_view bytes) {
  return bytes.starts_with('\0') && looks_like_legacy_pprof(bytes);
}

// "v 10400 3\nX ./program"
bool is_heaptrack(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 4096);
  return head.starts_with("v 1") && head.find("\nX ") != std::string_view::npos;
}

bool is_nettrace(std::string_view bytes) {
  return bytes.starts_with("Nettrace");
}

bool is_memray(std::string_view bytes) {
  constexpr std::string_view kMagic("memray\0", 7);
  constexpr std::string_view kLz4("\x04\x22\x4d\x18", 4);  // the frame that memray packs it in
  if (bytes.starts_with(kMagic)) return true;
  return bytes.starts_with(kLz4) && bytes.substr(0, 64).find(kMagic) != std::string_view::npos;
}

// Ruby's Marshal of a hash that begins with the keys :version and :mode.
bool is_stackprof(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 256);
  return head.starts_with("\x04\x08{") && head.find("version") != std::string_view::npos &&
         head.find("mode") != std::string_view::npos;
}

bool is_hprof(std::string_view bytes) {
  return bytes.starts_with("JAVA PROFILE 1.0");
}

bool is_elf(std::string_view bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

constexpr std::string_view kSpeedscope =
    "open it with `npx speedscope FILE`, save it with Ctrl+S, and open the .speedscope.json with "
    "vesta";

constexpr std::array kKnownFiles = {
    KnownFile{"a perf.data file", "convert it: perf script -i FILE | vesta top -", is_perf_data},
    KnownFile{"a CPU profile of V8 (.cpuprofile)",
              "convert it: node -e "
              "'p=JSON.parse(fs.readFileSync(process.argv[1]));u={};p.nodes.map(n=>u[n.id]=n);"
              "p.nodes.map(n=>(n.children||[]).map(c=>u[c].up=n));p.samples.map(i=>{for(s=[],n=u[i]"
              ";n;n=n.up)s.unshift(n.callFrame.functionName||\"(anonymous)\");"
              "console.log(s.join(\";\"),1)})' FILE | vesta top -",
              is_cpuprofile},
    KnownFile{"a heap profile of V8 (.heapprofile)",
              "convert it: node -e "
              "'p=JSON.parse(fs.readFileSync(process.argv[1]));(f=(n,s)=>{s=s.concat("
              "n.callFrame.functionName||\"(anonymous)\");n.selfSize&&console.log(s.join(\";\"),"
              "n.selfSize);n.children.map(c=>f(c,s))})(p.head,[])' FILE | vesta top -",
              is_heapprofile},
    KnownFile{"a heap snapshot of V8 (.heapsnapshot)",
              "it holds objects without stacks; record a profile instead: node --heap-prof "
              "PROGRAM",
              is_heapsnapshot},
    KnownFile{"a Chrome trace", kSpeedscope, is_chrome_trace},
    KnownFile{"a profile of the Firefox Profiler", kSpeedscope, is_firefox_profile},
    KnownFile{"a callgrind file", kSpeedscope, is_callgrind},
    KnownFile{"a profile of Python's cProfile",
              "convert it: pip install flameprof; flameprof --format=log FILE | vesta top -",
              is_cprofile},
    KnownFile{"a CPU profile of gperftools",
              "convert it: go tool pprof -proto -output=profile.pb.gz BINARY FILE",
              is_gperftools_cpu},
    KnownFile{"a heap profile of Go as text (debug=1)",
              "fetch it without ?debug=1, or convert it: go tool pprof -proto "
              "-output=profile.pb.gz BINARY FILE",
              is_go_heap_text},
    KnownFile{"a heap profile of gperftools",
              "convert it: go tool pprof -proto -output=profile.pb.gz BINARY FILE",
              is_text_heap_profile},
    KnownFile{"a profile of Go as text (debug=1)",
              "fetch it without ?debug=1, or convert it: go tool pprof -proto "
              "-output=profile.pb.gz BINARY FILE",
              is_go_count_text},
    KnownFile{"a dump of goroutines as text (debug=2)",
              "fetch it without ?debug=2: vesta top http://HOST/debug/pprof/goroutine",
              is_goroutine_dump},
    KnownFile{"a heap profile of jemalloc",
              "convert it: jeprof --collapsed BINARY FILE | vesta top -", is_jemalloc_heap},
    KnownFile{"a heaptrack file",
              "convert it: heaptrack_print -f FILE -F stacks.folded; vesta top stacks.folded",
              is_heaptrack},
    KnownFile{"a trace of .NET (.nettrace)",
              "convert it: dotnet-trace convert --format Speedscope FILE, and open the "
              ".speedscope.json with vesta",
              is_nettrace},
    KnownFile{"a memray file",
              "convert it: memray transform speedscope -o memory.speedscope.json FILE; vesta top "
              "memory.speedscope.json",
              is_memray},
    KnownFile{
        "a dump of stackprof",
        "convert it: stackprof --stackcollapse FILE | vesta top - (it must have been recorded "
        "with raw: true)",
        is_stackprof},
    KnownFile{"a heap dump of a JVM (HPROF)",
              "it holds objects without stacks; record a profile instead: jcmd PID JFR.start "
              "settings=profile filename=profile.jfr",
              is_hprof},
    KnownFile{"a program", "record a profile of it: vesta record -- PROGRAM", is_elf},
};

}  // namespace

std::span<const KnownFile> known_files() {
  return kKnownFiles;
}

const KnownFile* find_known_file(std::string_view bytes) {
  const auto it = std::ranges::find_if(
      kKnownFiles, [&](const KnownFile& known) { return known.recognise(bytes); });
  return it == kKnownFiles.end() ? nullptr : &*it;
}

}  // namespace vesta
