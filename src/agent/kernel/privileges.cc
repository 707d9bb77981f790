#include "agent/kernel/privileges.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace vesta::agent {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::string_view name_of(Capability capability) {
  switch (capability) {
    case Capability::kDacOverride:
      return "CAP_DAC_OVERRIDE";
    case Capability::kDacReadSearch:
      return "CAP_DAC_READ_SEARCH";
    case Capability::kSysPtrace:
      return "CAP_SYS_PTRACE";
    case Capability::kSysAdmin:
      return "CAP_SYS_ADMIN";
    case Capability::kSysNice:
      return "CAP_SYS_NICE";
    case Capability::kSyslog:
      return "CAP_SYSLOG";
    case Capability::kPerfmon:
      return "CAP_PERFMON";
    case Capability::kBpf:
      return "CAP_BPF";
    case Capability::kCheckpointRestore:
      return "CAP_CHECKPOINT_RESTORE";
  }
  return "a capability";
}

std::optional<CapabilitySet> CapabilitySet::from_status(std::string_view status) {
  constexpr std::string_view kField = "\nCapEff:";
  const size_t at = status.find(kField);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = status.substr(at + kField.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc()) return std::nullopt;
  return CapabilitySet(bits);
}

bool CapabilitySet::has(Capability capability) const {
  const auto bit = [&](Capability c) { return (bits_ >> static_cast<int>(c) & 1) != 0; };
  const bool admin_will_do = capability == Capability::kBpf || capability == Capability::kPerfmon ||
                             capability == Capability::kCheckpointRestore;
  return bit(capability) || (admin_will_do && bit(Capability::kSysAdmin));
}

CapabilitySet effective_capabilities() {
  std::ifstream in("/proc/self/status");
  const std::string status((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return CapabilitySet::from_status(status).value_or(CapabilitySet());
}

std::string missing_capabilities(const CapabilitySet& set) {
  std::vector<std::string> missing;
  for (const Capability needed : {Capability::kBpf, Capability::kPerfmon, Capability::kSysPtrace}) {
    if (!set.has(needed)) missing.emplace_back(name_of(needed));
  }
  return joined(missing);
}

std::string missing_capabilities() {
  return missing_capabilities(effective_capabilities());
}

std::string how_to_grant_capabilities() {
  char path[4096];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path));
  const std::string program = bytes > 0 ? std::string(path, static_cast<size_t>(bytes)) : "vesta";
  return "run it with sudo, or: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,"
         "cap_dac_read_search,cap_checkpoint_restore,cap_syslog+ep " +
         program;
}

std::string errno_text(int error_number) {
  const char* name = strerrorname_np(error_number);
  const char* words = strerrordesc_np(error_number);
  return std::string(name == nullptr ? std::to_string(error_number) : name) + " (" +
         (words == nullptr ? "unknown" : words) + ")";
}

Error permission_error(std::string_view what, int error_number, const CapabilitySet& set) {
  const bool refused = error_number == EPERM || error_number == EACCES;
  Error error{refused ? ErrorCode::kPermission : ErrorCode::kIo,
              "cannot " + std::string(what) + ": " + errno_text(error_number),
              {}};
  if (!refused) {
    error.hint = "try vesta doctor";
    return error;
  }
  const std::string missing = missing_capabilities(set);
  if (missing.empty()) {
    error.hint =
        "no capability is missing: kernel lockdown, a seccomp filter or a security module refuses; "
        "vesta doctor shows which";
  } else {
    error.message += "; missing " + missing;
    error.hint = how_to_grant_capabilities();
  }
  return error;
}

Error permission_error(std::string_view what, int error_number) {
  return permission_error(what, error_number, effective_capabilities());
}

}  // namespace vesta::agent
