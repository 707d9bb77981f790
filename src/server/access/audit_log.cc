#include "server/access/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/json_writer.h"
#include "base/log.h"
#include "server/access/token.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxTarget = 4096;

std::string line_of(const RequestRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("time", utc_text(unix_now_ns()));
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

Result<std::unique_ptr<AuditLog>> AuditLog::open(const AuditOptions& options) {
  std::unique_ptr<AuditLog> log(new AuditLog(options));
  VESTA_TRY(log->open_file());
  log->thread_ = std::thread([raw = log.get()] { raw->run(); });
  return log;
}

AuditLog::~AuditLog() {
  {
    const std::lock_guard guard(lock_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status AuditLog::open_file() {
  const std::string& path = options_.path;
  file_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat info {};
  if (!file_.valid() || ::fstat(file_.get(), &info) != 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot open the audit log {}: {}", path, std::strerror(errno)),
                 "check the owner of the data directory"};
  }
  written_ = static_cast<uint64_t>(info.st_size);
  return {};
}

void AuditLog::note(const RequestRecord& record) {
  if (!wants(record)) return;
  std::string line = line_of(record);
  {
    const std::lock_guard guard(lock_);
    if (queue_.size() >= options_.max_queued) {
      ++dropped_;
      ++gap_;
      return;
    }
    if (gap_ > 0) {
      line.insert(0, fmt::format("{{\"time\":\"{}\",\"dropped_lines\":{}}}\n",
                                 utc_text(unix_now_ns()), gap_));
      gap_ = 0;
    }
    queue_.push_back(std::move(line));
  }
  wake_.notify_one();
}

void AuditLog::run() {
  while (true) {
    std::deque<std::string> lines;
    {
      std::unique_lock guard(lock_);
      wake_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      lines.swap(queue_);
    }
    std::string block;
    for (const std::string& line : lines) {
      block += line;
      if (block.size() > 64 * 1024) {
        append(block);
        block.clear();
      }
    }
    append(block);
  }
}

void AuditLog::append(const std::string& lines) {
  if (lines.empty()) return;
  if (written_ > 0 && written_ + lines.size() > options_.max_file_bytes) rotate();
  std::string_view rest = lines;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      ++failures_;  // a full disk must not end the service; metrics show it
      return;
    }
    written_ += static_cast<uint64_t>(written);
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

void AuditLog::rotate() {
  const std::string& path = options_.path;
  for (int i = options_.files - 1; i > 1; --i) {
    std::rename(fmt::format("{}.{}", path, i - 1).c_str(), fmt::format("{}.{}", path, i).c_str());
  }
  if (options_.files > 1) {
    std::rename(path.c_str(), fmt::format("{}.1", path).c_str());
  } else {
    ::unlink(path.c_str());
  }
  if (!open_file().ok()) ++failures_;
}

}  // namespace vesta::server
