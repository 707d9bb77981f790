#include "base/log.h"

#include <fmt/format.h>

#include <ctime>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/mutex.h"

namespace vesta {
namespace {

constexpr std::string_view word_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

// A message may quote what a client sent: it must stay one line, and cannot steer a terminal.
void append_printable(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string utc_text(UnixNs time) {
  const std::time_t seconds = time.ns / kSecond;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time.ns / kMillisecond % 1000);
}

void Log::write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
  if (stream_ == nullptr || level < least_) return;
  std::string line;
  if (format_ == LogFormat::kJson) {
    JsonWriter json;
    json.begin_object();
    json.field("time", utc_text(unix_now()));
    json.field("level", word_of(level));
    json.field("message", message);
    for (const auto& [name, value] : fields) json.field(name, value);
    json.end_object();
    line = json.take();
  } else {
    line = fmt::format("{} {:<7} ", utc_text(unix_now()), word_of(level));
    append_printable(line, message);
    for (const auto& [name, value] : fields) {
      line += fmt::format(" {}=", name);
      append_printable(line, value);
    }
  }
  line += '\n';
  const MutexLock guard(lock_);
  std::fwrite(line.data(), 1, line.size(), stream_);
  std::fflush(stream_);
}

}  // namespace vesta
