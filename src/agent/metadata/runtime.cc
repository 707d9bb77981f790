#include "agent/metadata/runtime.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/metadata/attributes.h"
#include "base/byte_cursor.h"
#include "base/text.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kNative = "native";
constexpr std::string_view kJava = "OpenJDK Runtime Environment";
constexpr size_t kMaxVersionBytes = 64;
constexpr size_t kMaxReleaseBytes = 64 * 1024;
constexpr size_t kMaxExecutables = 1024;
constexpr size_t kNodeScanBytes = 1 << 20;

// What wins when a process has mapped several: programs embed Python more often than Java.
enum Rank : int { kModule = 1, kEmbedded = 2, kMachine = 3 };

bool is_version_char(char c) {
  return (c >= '0' && c <= '9') || c == '.';
}

// The version at the start of a text: "3.11.so.1.0" → "3.11".
std::string_view leading_version(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_version_char);
  text = text.substr(0, static_cast<size_t>(end - text.begin()));
  while (text.ends_with('.')) text.remove_suffix(1);
  return text.size() <= kMaxVersionBytes ? text : std::string_view();
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The folder that follows one of that name: …/Microsoft.NETCore.App/8.0.1/… → 8.0.1
std::string_view folder_after(std::string_view path, std::string_view folder) {
  const size_t at = path.find(folder);
  if (at == std::string_view::npos) return {};
  path.remove_prefix(at + folder.size());
  return path.substr(0, path.find('/'));
}

// Go writes its version at the start of .go.buildinfo: a magic, the size of
// pointers, flags, and from byte 32 on a length and the text. Before Go
// 1.18 there were pointers in place of the text.
constexpr std::string_view kGoMagic = "\xff Go buildinf:";
constexpr size_t kGoTextOffset = 32;
constexpr uint8_t kGoInlineFlag = 2;

Runtime go_runtime(std::string_view build_info) {
  if (!build_info.starts_with(kGoMagic)) return {};
  Runtime out{"go", ""};
  if (build_info.size() <= kGoTextOffset || (build_info[15] & kGoInlineFlag) == 0) return out;
  ByteCursor cursor(build_info, kGoTextOffset);
  std::string_view text = cursor.bytes(std::min<uint64_t>(cursor.uleb(), kMaxVersionBytes));
  if (cursor.ok() && take_prefix(text, "go")) out.version = text.substr(0, text.find(' '));
  return out;
}

// The archive that this Node came from is part of its own description (process.release).
Runtime node_runtime(const ElfFile& file) {
  Runtime out{"nodejs", ""};
  const ElfSection* const constants = file.section(".rodata");
  if (constants == nullptr) return out;
  constexpr std::string_view kRelease = "/node-v";
  const std::string_view text = constants->bytes.substr(0, kNodeScanBytes);
  const size_t at = text.find(kRelease);
  if (at != std::string_view::npos)
    out.version = leading_version(text.substr(at + kRelease.size()));
  return out;
}

}  // namespace

void MappedRuntimes::offer(int rank, std::string_view name, std::string_view version) {
  if (rank < rank_ || (rank == rank_ && !best_.version.empty())) return;
  rank_ = rank;
  best_ = {std::string(name), std::string(version)};
}

void MappedRuntimes::note(std::string_view path) {
  std::string_view name = base_name(path);
  if (name == "libjvm.so") {
    offer(kMachine, kJava, "");
    jvm_folder_ = path.substr(0, path.size() - name.size());
  } else if (name == "libcoreclr.so") {
    offer(kMachine, ".NET", leading_version(folder_after(path, "/Microsoft.NETCore.App/")));
  } else if (take_prefix(name, "libpython")) {
    offer(kEmbedded, "cpython", leading_version(name));
  } else if (take_prefix(name, "libpypy")) {
    offer(kEmbedded, "pypy", leading_version(name));
  } else if (take_prefix(name, "libruby.so.") || take_prefix(name, "libruby-")) {
    offer(kEmbedded, "ruby", leading_version(name));
  } else if (take_prefix(name, "libphp")) {
    offer(kEmbedded, "php", leading_version(name));
  } else if (take_prefix(name, "libnode.so")) {
    offer(kEmbedded, "nodejs", "");  // what follows counts interfaces, not versions
  } else if (const size_t at = name.find(".cpython-"); at != std::string_view::npos) {
    // _json.cpython-311-x86_64-linux-gnu.so: the only trace of a static Python named python3.
    const std::string_view digits = leading_version(name.substr(at + 9));
    if (digits.size() >= 2 && digits.find('.') == std::string_view::npos)
      offer(kModule, "cpython", fmt::format("{}.{}", digits.substr(0, 1), digits.substr(1)));
  }
}

Runtime runtime_of_executable(std::string_view path) {
  struct Name {
    std::string_view prefix;
    std::string_view runtime;
  };
  constexpr std::array<Name, 9> kNames = {{{"python", "cpython"},
                                           {"pypy", "pypy"},
                                           {"php-fpm", "php"},
                                           {"php-cgi", "php"},
                                           {"php", "php"},
                                           {"ruby", "ruby"},
                                           {"perl", "perl"},
                                           {"nodejs", "nodejs"},
                                           {"node", "nodejs"}}};
  const std::string_view name = base_name(path);
  if (name == "beam.smp") {
    return {"BEAM", std::string(leading_version(folder_after(path, "/erts-")))};
  }
  for (const Name& known : kNames) {
    std::string_view rest = name;
    if (!take_prefix(rest, known.prefix)) continue;
    // Nothing but a version may follow: "phpmyadmin" and "node_exporter" are other programs.
    const std::string_view version = leading_version(rest);
    if (version.size() != rest.size()) continue;
    Runtime out{std::string(known.runtime), std::string(version)};
    // Version managers have it in the path: …/versions/node/v20.1.0/bin/node
    std::string_view folder = folder_after(path, "/versions/node/");
    if (out.name == "nodejs" && take_prefix(folder, "v")) out.version = leading_version(folder);
    return out;
  }
  return {};
}

Runtime runtime_of_elf(const ElfFile& file, std::string_view path) {
  if (const ElfSection* const go = file.section(".go.buildinfo"); go != nullptr)
    return go_runtime(go->bytes);
  return runtime_of_executable(path).name == "nodejs" ? node_runtime(file) : Runtime();
}

std::string java_version(std::string_view release) {
  std::string_view found;
  while (!release.empty()) {
    const size_t end = release.find('\n');
    std::string_view line = release.substr(0, end);
    release.remove_prefix(end == std::string_view::npos ? release.size() : end + 1);
    const bool is_best = take_prefix(line, "JAVA_RUNTIME_VERSION=");
    if (!is_best && !take_prefix(line, "JAVA_VERSION=")) continue;
    if (line.size() < 2 || line.front() != '"' || line.back() != '"') continue;
    if (is_best || found.empty()) found = line.substr(1, line.size() - 2);
    if (is_best) break;
  }
  return std::string(found.substr(0, kMaxVersionBytes));
}

Runtime RuntimeProbe::of_executable_file(const ProcDir& process, uint32_t pid,
                                         std::string_view executable) {
  const auto file = open_own_path(fmt::format("/proc/self/fd/{}/exe", process.fd()),
                                  [&](uint64_t device) { return devices_.is_safe(pid, device); });
  if (!file) return {};
  if (const auto it = executables_.find(file->identity); it != executables_.end())
    return it->second;
  Runtime out;
  auto bytes = InputFile::from_fd(file->fd.get(), ElfFile::default_limits().max_file_bytes);
  if (bytes) {
    const auto elf = ElfFile::parse(std::move(*bytes));
    if (elf) out = runtime_of_elf(**elf, executable);
  }
  if (executables_.size() >= kMaxExecutables) executables_.clear();
  executables_[file->identity] = out;
  return out;
}

std::string RuntimeProbe::java_version_of(const ProcDir& process, uint32_t pid,
                                          const std::string& jvm_folder) {
  const UniqueFd root(::openat(process.fd(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return "";
  // JAVA_HOME/lib/server, or JAVA_HOME/jre/lib/amd64/server until Java 8.
  std::string folder = jvm_folder;
  for (int up = 0; up < 5; ++up) {
    while (folder.ends_with('/')) folder.pop_back();
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos || slash == 0) return "";
    folder.resize(slash);
    if (up == 0) continue;
    const auto file = open_in_known_folder(root.get(), folder, "release", [&](uint64_t device) {
      return devices_.is_safe(pid, device);
    });
    if (!file) continue;
    std::string text(kMaxReleaseBytes, '\0');
    const ssize_t got = ::pread(file->fd.get(), text.data(), text.size(), 0);
    if (got > 0) return java_version(std::string_view(text).substr(0, static_cast<size_t>(got)));
  }
  return "";
}

Runtime RuntimeProbe::identify(const ProcDir& process, uint32_t pid, std::string_view executable,
                               const MappedRuntimes& mapped) {
  if (!mapped.jvm_folder().empty())
    return {std::string(kJava), java_version_of(process, pid, mapped.jvm_folder())};
  Runtime by_name = runtime_of_executable(executable);
  // "python3" leaves much open.
  if (by_name.version.find('.') != std::string::npos) return by_name;
  const Runtime& by_library = mapped.best();
  if (!by_name.name.empty() && by_library.name == by_name.name && !by_library.version.empty())
    return by_library;
  if (by_name.name.empty() && !by_library.name.empty()) return by_library;
  Runtime by_file = of_executable_file(process, pid, executable);
  if (!by_file.name.empty()) return by_file;
  return by_name.name.empty() ? Runtime{std::string(kNative), ""} : by_name;
}

}  // namespace vesta::agent
