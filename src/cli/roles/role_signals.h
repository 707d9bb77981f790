// What an operator can tell a running role: to end (SIGTERM, Ctrl-C) and to read its configuration
// again (SIGHUP). One at a time; signals are process-wide.
#pragma once

#include <csignal>
#include <functional>

#include "cli/record/interrupt.h"

namespace vesta::cli {

class RoleSignals {
 public:
  RoleSignals();
  ~RoleSignals();
  RoleSignals(const RoleSignals&) = delete;
  RoleSignals& operator=(const RoleSignals&) = delete;

  // Until it shall end; calls `reload` each time that is asked for.
  void wait(const std::function<void()>& reload);

 private:
  Interrupt interrupt_;
  struct sigaction previous_ {};
};

}  // namespace vesta::cli
