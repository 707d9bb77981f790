// How the agent tells the service manager that it is up and that it still makes progress: the
// protocol of sd_notify(3), spoken directly. Without a manager nothing is sent. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/mutex.h"

namespace vesta::agent {

class ServiceNotifier {
 public:
  // As NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID say.
  static ServiceNotifier from_environment();
  // `socket` is a path, or a name in the abstract namespace when it begins with @.
  ServiceNotifier(std::string socket, std::optional<std::chrono::microseconds> watchdog);

  void ready() const { send("READY=1"); }
  void stopping() const { send("STOPPING=1"); }
  // ready() has to follow when it is done.
  void reloading() const;
  void alive() const { send("WATCHDOG=1"); }
  // A line for `systemctl status`.
  void status(std::string_view text) const;

  // How long the manager waits between two signs of life before it restarts us.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  void send(const std::string& text) const;

  std::string socket_;
  UniqueFd fd_;
  std::optional<std::chrono::microseconds> watchdog_;
};

// One loop's sign of life: beat() in every round.
class Heartbeat {
 public:
  explicit Heartbeat(std::string name) : name_(std::move(name)) { beat(); }
  void beat();
  uint64_t last_ns() const { return last_ns_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::atomic<uint64_t> last_ns_{0};
};

// Passes on that all loops live: a process with one thread that hangs is not alive.
class Watchdog {
 public:
  // A loop counts as stuck after `patience`, or half of what the manager grants when that is less.
  explicit Watchdog(const ServiceNotifier& notifier,
                    std::chrono::milliseconds patience = std::chrono::seconds(60));

  // Lives as long as the watchdog. Call before the loop starts.
  Heartbeat& add(std::string name);
  // About once a second, from any of the loops: tells the manager when it is due and all is well.
  void tick();
  // Those that have not beaten for too long; for /healthz.
  std::vector<std::string> stuck() const;

 private:
  const ServiceNotifier& notifier_;
  uint64_t patience_ns_;
  uint64_t interval_ns_ = 0;  // between two messages; 0 = nobody waits for them
  mutable Mutex mutex_;
  std::list<Heartbeat> heartbeats_ GUARDED_BY(mutex_);
  uint64_t told_ns_ GUARDED_BY(mutex_) = 0;
};

}  // namespace vesta::agent
