#include "server/access/audit_log.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mutex.h"
#include "server/access/token.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxTarget = 4096;
constexpr size_t kBlockBytes = 64 * 1024;

std::string line_of(const RequestRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("time", utc_text(unix_now()));
  json.field("tenant", record.caller == nullptr ? "" : record.caller->tenant);
  json.field("token", record.caller == nullptr ? "" : record.caller->token);
  json.field("address", record.caller == nullptr ? "" : record.caller->address);
  json.field("transport", record.transport);
  json.field("method", record.method);
  json.field("target", record.target.substr(0, kMaxTarget));
  json.field("scope", scope_name(record.scope));
  json.field("status", int64_t{record.status});
  json.field("bytes", record.bytes_out);
  json.field("ms", std::chrono::duration<double, std::milli>(record.duration).count());
  json.field("request_id", record.request_id);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace

bool AuditLog::wants(const RequestRecord& record) {
  return record.scope == Scope::kRead || record.scope == Scope::kAdmin || record.status == 401 ||
         record.status == 403;
}

bool AuditLog::is_of_unknown_caller(const RequestRecord& record) {
  return !record.rejected.empty() && (record.caller == nullptr || record.caller->token.empty());
}

AuditOptions AuditOptions::in(const std::string& directory) {
  AuditOptions options;
  options.known.path = directory + "/audit.log";
  options.unknown.path = directory + "/refused.log";
  return options;
}

Result<std::unique_ptr<AuditLog>> AuditLog::open(const AuditOptions& options) {
  VESTA_ASSIGN(RotatingFile known, RotatingFile::open(options.known));
  VESTA_ASSIGN(RotatingFile unknown, RotatingFile::open(options.unknown));
  std::unique_ptr<AuditLog> log(
      new AuditLog(options.max_queued, std::move(known), std::move(unknown)));
  log->thread_ = std::thread([raw = log.get()] { raw->run(); });
  return log;
}

AuditLog::~AuditLog() {
  {
    const MutexLock guard(lock_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void AuditLog::note(const RequestRecord& record) {
  if (!wants(record)) return;
  std::string line = line_of(record);
  {
    const MutexLock guard(lock_);
    Waiting& waiting = is_of_unknown_caller(record) ? unknown_waiting_ : known_waiting_;
    if (waiting.lines.size() >= max_queued_) {
      ++dropped_;
      ++waiting.gap;
      return;
    }
    if (waiting.gap > 0) {
      line.insert(0, fmt::format("{{\"time\":\"{}\",\"dropped_lines\":{}}}\n", utc_text(unix_now()),
                                 waiting.gap));
      waiting.gap = 0;
    }
    waiting.lines.push_back(std::move(line));
  }
  wake_.notify_one();
}

void AuditLog::run() {
  while (true) {
    std::deque<std::string> known;
    std::deque<std::string> unknown;
    {
      MutexLock guard(lock_);
      wake_.wait(guard, [this]() REQUIRES(lock_) {
        return stopping_ || !known_waiting_.lines.empty() || !unknown_waiting_.lines.empty();
      });
      if (known_waiting_.lines.empty() && unknown_waiting_.lines.empty()) return;
      known.swap(known_waiting_.lines);
      unknown.swap(unknown_waiting_.lines);
    }
    write(known_, known);
    write(unknown_, unknown);
  }
}

void AuditLog::write(RotatingFile& file, const std::deque<std::string>& lines) {
  std::string block;
  const auto append = [&] {
    // A full disk must not end the service; metrics show it.
    if (!block.empty() && !file.append(block).ok()) ++failures_;
    block.clear();
  };
  for (const std::string& line : lines) {
    block += line;
    if (block.size() > kBlockBytes) append();
  }
  append();
}

}  // namespace vesta::server
