#include "cli/roles/role_signals.h"

namespace vesta::cli {
namespace {

constexpr int kCheckMs = 200;

volatile sig_atomic_t g_reload = 0;

void note_signal(int /*signal_number*/) {
  g_reload = 1;
}

}  // namespace

RoleSignals::RoleSignals() {
  g_reload = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGHUP, &action, &previous_);
}

RoleSignals::~RoleSignals() {
  ::sigaction(SIGHUP, &previous_, nullptr);
}

void RoleSignals::wait(const std::function<void()>& reload) {
  while (!Interrupt::came()) {
    if (g_reload != 0) {
      g_reload = 0;
      reload();
    }
    Interrupt::wait(kCheckMs);
  }
}

}  // namespace vesta::cli
