#include "agent/status/watchdog.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/mutex.h"

namespace vesta::agent {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<int64_t> number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

ServiceNotifier ServiceNotifier::from_environment() {
  std::optional<std::chrono::microseconds> watchdog;
  const auto microseconds = number(environment("WATCHDOG_USEC"));
  const auto pid = number(environment("WATCHDOG_PID"));
  // Meant for a process that started us, not for us.
  const bool is_ours = !pid || *pid == ::getpid();
  if (microseconds && *microseconds > 0 && is_ours)
    watchdog = std::chrono::microseconds(*microseconds);
  return {environment("NOTIFY_SOCKET"), watchdog};
}

ServiceNotifier::ServiceNotifier(std::string socket,
                                 std::optional<std::chrono::microseconds> watchdog)
    : socket_(std::move(socket)), watchdog_(watchdog) {
  if (socket_.empty() || socket_.size() >= sizeof(sockaddr_un::sun_path)) return;
  fd_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void ServiceNotifier::send(const std::string& text) const {
  if (!fd_.valid()) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // A manager that does not listen is no reason to stop.
  (void)::sendto(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), bytes);
}

void ServiceNotifier::reloading() const {
  send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_ns() / 1000));
}

void ServiceNotifier::status(std::string_view text) const {
  send(fmt::format("STATUS={}", text.substr(0, text.find('\n'))));
}

void Heartbeat::beat() {
  last_ns_ = monotonic_ns();
}

Watchdog::Watchdog(const ServiceNotifier& notifier, std::chrono::milliseconds patience)
    : notifier_(notifier),
      patience_ns_(static_cast<uint64_t>(std::chrono::nanoseconds(patience).count())) {
  if (!notifier.watchdog()) return;
  const auto granted =
      static_cast<uint64_t>(std::chrono::nanoseconds(*notifier.watchdog()).count());
  patience_ns_ = std::min(patience_ns_, granted / 2);
  interval_ns_ = granted / 4;
}

Heartbeat& Watchdog::add(std::string name) {
  const MutexLock lock(mutex_);
  return heartbeats_.emplace_back(std::move(name));
}

std::vector<std::string> Watchdog::stuck() const {
  const uint64_t now = monotonic_ns();
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const Heartbeat& heartbeat : heartbeats_) {
    const uint64_t last = heartbeat.last_ns();
    if (now > last && now - last > patience_ns_) names.push_back(heartbeat.name());
  }
  return names;
}

void Watchdog::tick() {
  if (interval_ns_ == 0 || !stuck().empty()) return;
  const uint64_t now = monotonic_ns();
  {
    const MutexLock lock(mutex_);
    if (told_ns_ != 0 && now - told_ns_ < interval_ns_) return;
    told_ns_ = now;
  }
  notifier_.alive();
}

}  // namespace vesta::agent
