// Ends the process when stopping takes longer than was promised. What clients were told is stored
// has been synced before they were told, so that nothing of it is lost. Owns a thread from start to
// destruction, which calls the end off.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/mutex.h"

namespace vesta::cli {

class StopDeadline {
 public:
  // `unfinished` says what is cut off; it is asked on another thread.
  StopDeadline(std::chrono::milliseconds time, std::function<std::string()> unfinished, Log& log);
  ~StopDeadline();
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;

 private:
  Mutex lock_;
  CondVar wake_;
  bool is_over_ GUARDED_BY(lock_) = false;
  std::thread thread_;
};

}  // namespace vesta::cli
