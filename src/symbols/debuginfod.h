// Fetches debug files by build id from debuginfod servers, through libdebuginfod, which is loaded
// when first needed and does the caching on disk. Off unless servers are named. Blocks its caller
// up to the timeout, so it belongs on a background thread. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/file.h"
#include "base/result.h"
#include "symbols/elf/elf_file.h"

namespace vesta {

class Debuginfod {
 public:
  struct Options {
    // Space-separated; empty for what the environment's DEBUGINFOD_URLS says. The library reads
    // its servers from the environment alone, so naming some here changes it for the process:
    // create the object before other threads run.
    std::string urls;
    std::chrono::milliseconds timeout{30'000};  // for one file, in all
    uint64_t max_bytes = 1ULL << 30;
    std::chrono::seconds forget_missing_after{600};
    size_t max_remembered = 4096;
  };

  // kNotFound when no servers are named, kUnsupported when the library is not installed.
  static Result<std::unique_ptr<Debuginfod>> open(Options options);
  ~Debuginfod();
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;

  // The debug file with this build id. kNotFound is remembered for a while, as are failures.
  Result<std::shared_ptr<const ElfFile>> find(const BuildId& id);

  struct Statistics {
    size_t asked = 0;  // of servers or the library's cache
    size_t found = 0;
  };
  const Statistics& statistics() const { return statistics_; }

 private:
  struct Library;
  Debuginfod(Options options, std::unique_ptr<Library> library);
  Result<std::shared_ptr<const ElfFile>> ask(const BuildId& id);

  const Options options_;
  std::unique_ptr<Library> library_;
  std::unordered_map<std::string, std::chrono::steady_clock::time_point> missing_;
  Statistics statistics_;
};

}  // namespace vesta
