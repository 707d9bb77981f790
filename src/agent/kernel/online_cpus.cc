#include "agent/kernel/online_cpus.h"

#include <charconv>

#include "base/file.h"

namespace vesta::agent {
namespace {

constexpr int kMaxCpu = 8192;  // CONFIG_NR_CPUS of the largest distribution kernels
constexpr uint64_t kMaxBytes = 64 * 1024;

bool read_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= kMaxCpu) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty() && text != "\n") {
    int first = 0;
    if (!read_number(text, first)) return {};
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!read_number(text, last) || last < first) return {};
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return cpus;
}

Result<std::vector<int>> online_cpus(const std::string& path) {
  VESTA_ASSIGN(const InputFile file, InputFile::open(path, kMaxBytes));
  std::vector<int> cpus = parse_cpu_list(file.bytes());
  if (cpus.empty()) {
    return Error{ErrorCode::kUnsupported, "cannot find out which CPUs are online",
                 "mount /sys (mount -t sysfs sysfs /sys)"};
  }
  return cpus;
}

}  // namespace vesta::agent
