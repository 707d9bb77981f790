#include "formats/known_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/common/compression.h"
#include "formats/registry.h"

namespace vesta {
namespace {

using testing::HasSubstr;

struct Example {
  std::string_view name;  // a part of it
  std::string bytes;
  std::string_view command;  // a part of the hint
};

// The first bytes of files that the tools themselves wrote.
std::vector<Example> examples() {
  const auto bytes = [](const char* text, size_t size) { return std::string(text, size); };
  return {
      {"perf.data", "PERFILE2h" + std::string(20, '\0'), "perf script -i FILE"},
      {".cpuprofile",
       R"j({"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"",)j"
       R"j("lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2,3]},{"id":2)j",
       "node -e"},
      {".heapprofile",
       R"j({"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,)j"
       R"j("columnNumber":-1},"selfSize":0,"id":1,"children":[)j",
       "node -e"},
      {".heapsnapshot", R"({"snapshot":{"meta":{"node_fields":["type","name","id"]}}})",
       "node --heap-prof"},
      {"Chrome trace", R"({"traceEvents":[{"pid":1,"tid":2,"ph":"X","ts":1}]})", "speedscope"},
      {"Chrome trace",
       "[\n"
       R"({"pid":1,"tid":2,"ph":"B","ts":1,"name":"f"})",
       "speedscope"},
      {"Firefox", R"({"meta":{"interval":1,"startTime":1,"processType":0,"stackwalk":1},"libs":[)",
       "speedscope"},
      {"callgrind", "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\n", "speedscope"},
      {"callgrind", "version: 1\ncreator: callgrind-3.19.0\npid: 1721\n", "speedscope"},
      {"cProfile",
       bytes("\xfb\x29\x03\xfa\x04"
             "b.py\xe9\x01\0\0\0",
             14),
       "flameprof"},
      {"cProfile",
       bytes("{\xa9\x03z\x04"
             "b.py",
             9),
       "flameprof"},
      {"CPU profile of gperftools",
       bytes("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0"
             "\0\0\0\0\0\0\0\0",
             40),
       "go tool pprof -proto"},
      {"heap profile of gperftools",
       "heap profile:     50:   500000 [    50:   500000] @ heapprofile\n", "BINARY FILE"},
      {"heap profile of Go",
       "heap profile: 3: 2048 [9: 4096] @ heap/1048576\n1: 1024 [1: 1024] @ 0x1 0x2\n",
       "without ?debug=1"},
      {"profile of Go as text", "goroutine profile: total 7\n7 @ 0x1 0x2\n#\t0x1\tmain.f\n",
       "without ?debug=1"},
      {"goroutines", "goroutine 1 [running]:\nmain.main()\n\t/x.go:3 +0x1\n", "debug=2"},
      {"jemalloc", "heap_v2/1\n  t*: 201: 2129920 [0: 0]\n  t0: 201: 2129920 [0: 0]\n",
       "jeprof --collapsed"},
      {"heaptrack", "v 10400 3\nX ./p\nI 1000 5e2994\ns b /p\n", "heaptrack_print"},
      {".nettrace", "Nettrace\x14\0\0\0!FastSerialization.1", "dotnet-trace convert"},
      {"memray", bytes("\x04\x22\x4d\x18\x40\x40\xc0\xdb\x39\0\0\xfa\x04memray\0\x0d\0\0\0", 24),
       "memray transform speedscope"},
      {"memray", bytes("memray\0\x0d\0\0\0", 11), "memray transform speedscope"},
      {"stackprof",
       bytes("\x04\x08{\x10:\x0cversionf\x08"
             "1.2:\x09mode:\x09wall",
             28),
       "stackprof --stackcollapse"},
      {"HPROF", "JAVA PROFILE 1.0.2" + std::string(1, '\0'), "JFR.start"},
      {"a program",
       "\x7f"
       "ELF\x02\x01\x01",
       "vesta record"},
  };
}

TEST(KnownFiles, AreNamedWithACommand) {
  for (const Example& example : examples()) {
    EXPECT_EQ(recognise_format(example.bytes), "") << example.name;
    const KnownFile* known = find_known_file(example.bytes);
    ASSERT_NE(known, nullptr) << example.name;
    EXPECT_THAT(std::string(known->name), HasSubstr(std::string(example.name)));
    const auto batch = read_profile(example.bytes, "", {});
    ASSERT_FALSE(batch.ok()) << example.name;
    EXPECT_EQ(batch.error().message,
              "this is " + std::string(known->name) + ", which Vesta does not read");
    EXPECT_THAT(batch.error().hint, HasSubstr(std::string(example.command)));
  }
}

TEST(KnownFiles, AreKnownInsideOfACompressedFile) {
  const auto batch = read_profile(zstd("v 10400 3\nX ./p\nI 1000 5e2994\n"), "", {});
  ASSERT_FALSE(batch.ok());
  EXPECT_THAT(batch.error().message, HasSubstr("heaptrack"));
}

TEST(KnownFiles, EveryEntryHasAnExample) {
  for (const KnownFile& known : known_files()) {
    const auto is_of = [&](const Example& example) {
      return find_known_file(example.bytes) == &known;
    };
    const auto all = examples();
    EXPECT_TRUE(std::ranges::any_of(all, is_of)) << known.name;
  }
}

TEST(KnownFiles, OtherTextIsNotOneOfThem) {
  for (const std::string_view bytes :
       {"", "{", "{}", "[]", "{\"a\": 1}", "main;work 3\n", "Dear reader,\n", "v 1\n", "goroutine",
        "\x04\x08", "\x04\x22\x4d\x18", "\x7f", "version: 1\nname: x\n"}) {
    EXPECT_EQ(find_known_file(bytes), nullptr) << bytes;
  }
  EXPECT_EQ(find_known_file(std::string(100, '\0')), nullptr);
}

}  // namespace
}  // namespace vesta
