// Ends the process when stopping takes longer than was promised. What clients were told is stored
// has been synced before they were told, so that nothing of it is lost. Owns a thread from start to
// destruction, which calls the end off.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/log.h"

namespace vesta::cli {

class StopDeadline {
 public:
  // `unfinished` says what is cut off; it is asked on another thread.
  StopDeadline(std::chrono::milliseconds time, std::function<std::string()> unfinished, Log& log);
  ~StopDeadline();
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;

 private:
  std::mutex lock_;
  std::condition_variable wake_;
  bool is_over_ = false;  // guarded by lock_
  std::thread thread_;
};

}  // namespace vesta::cli
