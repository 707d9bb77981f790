// Which language runtime a process runs, and in which version, by the names of what it has mapped
// and a few bytes of its executable. MappedRuntimes is a value; a RuntimeProbe remembers what
// executables said and has one owner, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "agent/process/proc_files.h"
#include "agent/process/safe_devices.h"
#include "agent/process/target_file.h"
#include "symbols/elf/elf_file.h"

namespace vesta::agent {

// In OpenTelemetry's words (process.runtime.*). An empty name is not known, an empty version too.
struct Runtime {
  std::string name;
  std::string version;
};

// What the names of mapped files tell. Fed with the paths of /proc/PID/maps.
class MappedRuntimes {
 public:
  void note(std::string_view path);

  const Runtime& best() const { return best_; }
  // The folder of libjvm.so; empty when there is none.
  const std::string& jvm_folder() const { return jvm_folder_; }

 private:
  void offer(int rank, std::string_view name, std::string_view version);

  Runtime best_;
  int rank_ = 0;
  std::string jvm_folder_;
};

// What the name of an executable tells: python3.11, php-fpm8.2, node …
Runtime runtime_of_executable(std::string_view path);

// What is inside of an executable: Go's build information, Node's name of its own release. Empty
// for others.
Runtime runtime_of_elf(const ElfFile& file, std::string_view path);

// JAVA_RUNTIME_VERSION or JAVA_VERSION of the file `release` of a Java installation.
std::string java_version(std::string_view release);

class RuntimeProbe {
 public:
  explicit RuntimeProbe(std::string proc_root) : devices_(std::move(proc_root)) {}

  // "native" when it is none of those we know.
  Runtime identify(const ProcDir& process, uint32_t pid, std::string_view executable,
                   const MappedRuntimes& mapped);

 private:
  Runtime of_executable_file(const ProcDir& process, uint32_t pid, std::string_view executable);
  std::string java_version_of(const ProcDir& process, uint32_t pid, const std::string& jvm_folder);

  SafeDevices devices_;
  std::map<FileIdentity, Runtime> executables_;  // bounded
};

}  // namespace vesta::agent
