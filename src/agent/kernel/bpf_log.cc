#include "agent/kernel/bpf_log.h"

#include <bpf/libbpf.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "base/mutex.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxLogBytes = 2048;

Mutex g_lock;
std::string g_text;  // guarded by g_lock: libbpf calls back on the loading thread only

int keep(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  std::array<char, kMaxLogBytes> line{};
  const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
  g_text += line.data();
  if (g_text.size() > kMaxLogBytes) g_text.erase(0, g_text.size() - kMaxLogBytes);
  return length;
}

int ignore(libbpf_print_level /*level*/, const char* /*format*/, va_list /*arguments*/) {
  return 0;
}

}  // namespace

BpfLog::BpfLog() : lock_(g_lock) {
  g_text.clear();
  libbpf_set_print(keep);
}

BpfLog::~BpfLog() {
  libbpf_set_print(ignore);
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): the lock in this object guards
// it.
std::string BpfLog::text() const {
  return g_text;
}

}  // namespace vesta::agent
