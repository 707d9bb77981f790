#include "symbols/debuginfod.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/test_requirements.h"
#include "symbols/module_symbols.h"
#include "symbols/testing/elf_builder.h"
#include "symbols/testing/test_programs.h"

namespace vesta {
namespace {

using testing::Bytes;
using testing::ElfBuilder;
using testing::TestFolder;

// Python's web server on a port of its choice, in a folder. Ends with the object.
class WebServer {
 public:
  explicit WebServer(const std::string& folder, const std::string& script = kFiles) {
    int fds[2];
    if (::pipe(fds) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(fds[1], STDOUT_FILENO);
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, STDERR_FILENO);
      if (::chdir(folder.c_str()) == 0) {
        ::execlp("python3", "python3", "-c", script.c_str(), nullptr);
      }
      ::_exit(127);
    }
    ::close(fds[1]);
    // The port comes when the server listens.
    std::string text;
    char byte = 0;
    while (::read(fds[0], &byte, 1) == 1 && byte != '\n') text += byte;
    ::close(fds[0]);
    port_ = std::atoi(text.c_str());
  }
  ~WebServer() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;
  bool running() const { return port_ > 0; }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/", port_); }

  static constexpr const char* kFiles =
      "import http.server as h\n"
      "class Q(h.SimpleHTTPRequestHandler):\n"
      "  def do_GET(self):\n"
      "    open('asked', 'a').write(self.path + '\\n')\n"
      "    super().do_GET()\n"
      "s = h.ThreadingHTTPServer(('127.0.0.1', 0), Q)\n"
      "print(s.server_port, flush=True)\n"
      "s.serve_forever()\n";
  // Takes connections and never answers.
  static constexpr const char* kSilent =
      "import socket, time\n"
      "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(8)\n"
      "print(s.getsockname()[1], flush=True)\n"
      "time.sleep(600)\n";

 private:
  pid_t child_ = -1;
  int port_ = 0;
};

class DebuginfodTest : public ::testing::Test {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(testing::has_tool("python3"), "python3 is not installed");
    ::setenv("DEBUGINFOD_CACHE_PATH", cache_.file("cache").c_str(), 1);
    ::setenv("DEBUGINFOD_PROGRESS", "", 1);
    // A proxy of the machine's must not come between.
    ::setenv("no_proxy", "127.0.0.1", 1);
  }
  void TearDown() override { ::unsetenv("DEBUGINFOD_URLS"); }

  static std::unique_ptr<Debuginfod> open(Debuginfod::Options options) {
    auto opened = Debuginfod::open(std::move(options));
    if (!opened && opened.error().code == ErrorCode::kUnsupported) return nullptr;
    return opened ? std::move(*opened) : nullptr;
  }

  TestFolder cache_;
  TestFolder served_;
};

std::string id_of(uint64_t id) {
  return Bytes().u64(id).str();
}

std::string elf_with_id(uint64_t id) {
  ElfBuilder elf;
  elf.add({".note.gnu.build-id", Bytes().u32(4).u32(8).u32(3).text("GNU").u64(id).str(), SHT_NOTE});
  elf.add({".much", std::string(100'000, 'm')});
  return elf.build();
}

TEST_F(DebuginfodTest, IsOffUnlessServersAreNamed) {
  ::unsetenv("DEBUGINFOD_URLS");
  const auto opened = Debuginfod::open({});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

TEST_F(DebuginfodTest, FetchesByBuildIdAndRemembersWhatIsMissing) {
  const BuildId here{id_of(0x1111111111111111)}, missing{id_of(0x2222222222222222)},
      wrong{id_of(0x3333333333333333)};
  served_.write("buildid/" + here.hex() + "/debuginfo", elf_with_id(0x1111111111111111));
  served_.write("buildid/" + wrong.hex() + "/debuginfo", elf_with_id(0x4444444444444444));
  const WebServer server(served_.path());
  ASSERT_TRUE(server.running());
  const auto client = open({.urls = server.url()});
  VESTA_REQUIRE_OR_SKIP(client != nullptr, "libdebuginfod is not installed");
  const auto found = client->find(here);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->build_id(), here);
  EXPECT_FALSE(client->find(missing));
  EXPECT_FALSE(client->find(missing));
  const auto other = client->find(wrong);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(client->statistics().asked, 3U);
  EXPECT_EQ(client->statistics().found, 1U);
}

TEST_F(DebuginfodTest, LargeFilesAreRefused) {
  const BuildId id{id_of(0x1111111111111111)};
  served_.write("buildid/" + id.hex() + "/debuginfo", elf_with_id(0x1111111111111111));
  const WebServer server(served_.path());
  const auto client = open({.urls = server.url(), .max_bytes = 1000});
  VESTA_REQUIRE_OR_SKIP(client != nullptr, "libdebuginfod is not installed");
  const auto found = client->find(id);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kLimit) << found.error().message;
}

TEST_F(DebuginfodTest, SilentServersAreGivenUp) {
  const WebServer server(served_.path(), WebServer::kSilent);
  ASSERT_TRUE(server.running());
  const auto client = open({.urls = server.url(), .timeout = std::chrono::milliseconds(500)});
  VESTA_REQUIRE_OR_SKIP(client != nullptr, "libdebuginfod is not installed");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(client->find({id_of(0x1111111111111111)}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(DebuginfodTest, NamesOfAStrippedProgramComeFromTheServer) {
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  ASSERT_TRUE(folder.run("objcopy --only-keep-debug program full && strip program"));
  const auto file = ElfFile::open(program);
  ASSERT_TRUE(file);
  const std::string hex = (*file)->build_id().hex();
  ASSERT_TRUE(folder.run(fmt::format(
      "mkdir -p {0}/buildid/{1} && cp full {0}/buildid/{1}/debuginfo", served_.path(), hex)));
  const WebServer server(served_.path());
  SymbolOptions options;
  options.debug_roots = {};
  options.debuginfod = open({.urls = server.url()});
  VESTA_REQUIRE_OR_SKIP(options.debuginfod != nullptr, "libdebuginfod is not installed");
  const auto symbols = ModuleSymbols::open(*file, program, options);
  EXPECT_TRUE(has(symbols->source(), SymbolSource::kDwarf));
  EXPECT_TRUE(has(symbols->source(), SymbolSource::kDebuginfod));
}

}  // namespace
}  // namespace vesta
