// Finds the separate debug file of an ELF file: by build id, by .gnu_debuglink, and the file that
// several debug files share (DWZ). Looks below given roots, such as a container's, and never leaves
// them through links or "..". Remembers what it found as long as someone holds it, and what it did
// not find. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "symbols/elf/elf_file.h"

namespace vesta {

// Opens a regular file below `root`, with every link on the way resolved inside of it. Anything
// else (a FIFO, a device, a folder) is refused without being opened. kUnsupported on kernels
// before 5.6 unless the root is "/".
Result<InputFile> open_below(const std::string& root, std::string_view path, uint64_t max_bytes);

// A file that was found, and where: paths in it are relative to that.
struct DebugFile {
  std::shared_ptr<const ElfFile> file;  // null: none
  std::string path;
};

class DebugFiles {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  struct Options {
    // In order; usually the process's root ("/proc/PID/root") and then "/".
    std::vector<std::string> roots = {"/"};
    uint64_t max_file_bytes = 8ULL << 30;
    // A file that was not there may come: a package is installed.
    std::chrono::seconds forget_missing_after{600};
    size_t max_remembered = 4096;
  };

  explicit DebugFiles(Options options, Clock clock = std::chrono::steady_clock::now);

  // `path` is the file's own, as its process sees it; it serves .gnu_debuglink. No file when
  // there is none.
  DebugFile find(const ElfFile& file, const std::string& path);
  // What .gnu_debugaltlink or .debug_sup of a debug file at `path` names; no file when there is
  // none.
  DebugFile find_alternate(const ElfFile& debug_file, const std::string& path);

 private:
  struct Known {
    std::weak_ptr<const ElfFile> file;
    std::string path;
    bool missing = false;
    std::chrono::steady_clock::time_point since;
  };
  using Accept = std::function<bool(const ElfFile&)>;

  DebugFile by_build_id(const BuildId& id, const Accept& accept) const;
  DebugFile by_debug_link(const ElfFile& file, const std::string& path) const;
  DebugFile try_path(const std::string& root, const std::string& path, const Accept& accept) const;
  // What is known under a key; `known` says whether anything is.
  DebugFile recall(const std::string& key, bool& known);
  void remember(const std::string& key, const DebugFile& file);

  const Options options_;
  const Clock clock_;
  std::unordered_map<std::string, Known> known_;
};

// The build id that .gnu_debugaltlink (or .debug_sup) asks for, and the path it gives.
struct AlternateLink {
  std::string_view path;
  BuildId build_id;
};
AlternateLink alternate_link(const ElfFile& file);

// The checksum that .gnu_debuglink holds.
uint32_t debug_link_crc(std::string_view bytes);

}  // namespace vesta
