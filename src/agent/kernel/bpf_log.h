// What libbpf and the verifier say while a program is loaded, kept for the error message instead of
// being printed. libbpf has one print function for the whole process, so at most one of these is in
// use at a time (a lock sees to that).
#pragma once

#include <string>

#include "base/mutex.h"

namespace vesta::agent {

class BpfLog {
 public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  // The last lines, at most about 2 KiB.
  std::string text() const;

 private:
  std::unique_lock<Mutex> lock_;
};

}  // namespace vesta::agent
