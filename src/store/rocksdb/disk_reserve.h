// Room on the disk that is kept for the day it is full: whatever frees space (a deletion,
// retention, a start that replays the log) has to write something first. Given back once there is
// room again. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/mutex.h"

namespace vesta::rocks {

class DiskReserve {
 public:
  // At most a twentieth of the file system. 0: none, and it always counts as held.
  DiskReserve(std::string path, uint64_t bytes);

  // Takes the room unless it is held; false while the disk has less than twice as much.
  bool hold();
  void release();
  bool is_held() const;

 private:
  const std::string path_;
  uint64_t bytes_;
  mutable Mutex mutex_;
  bool is_held_ GUARDED_BY(mutex_) = false;
};

}  // namespace vesta::rocks
