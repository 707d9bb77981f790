#include "cli/roles/stop_deadline.h"

#include <unistd.h>

#include "base/mutex.h"
#include "cli/command.h"

namespace vesta::cli {

StopDeadline::StopDeadline(std::chrono::milliseconds time, std::function<std::string()> unfinished,
                           Log& log) {
  thread_ = std::thread([this, time, unfinished = std::move(unfinished), &log] {
    MutexLock guard(lock_);
    if (wake_.wait_for(guard, time, [this]() REQUIRES(lock_) { return is_over_; })) return;
    log.warn("stopped before everything had ended", {{"cut_off", unfinished()}});
    // Not exit(): the threads that did not end still use what it would destroy.
    ::_exit(kOk);
  });
}

StopDeadline::~StopDeadline() {
  {
    const MutexLock guard(lock_);
    is_over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

}  // namespace vesta::cli
