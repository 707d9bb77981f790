// What a program that runs for long says about itself while it runs: one line each, for people or
// as JSON. Writes to a stream it does not own. Thread-safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "base/time.h"

namespace vesta {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : uint8_t { kText, kJson };

class Log {
 public:
  // A null stream drops everything.
  Log(std::FILE* stream, LogFormat format, LogLevel least)
      : stream_(stream), format_(format), least_(least) {}

  using Field = std::pair<std::string_view, std::string_view>;
  void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields = {});
  void info(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(LogLevel::kInfo, message, fields);
  }
  void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(LogLevel::kWarning, message, fields);
  }
  void error(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(LogLevel::kError, message, fields);
  }

 private:
  Mutex lock_;
  std::FILE* stream_ PT_GUARDED_BY(lock_);
  const LogFormat format_;
  const LogLevel least_;
};

// "2026-11-15T13:04:05.123Z"
std::string utc_text(UnixNs time);

}  // namespace vesta
