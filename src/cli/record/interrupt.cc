#include "cli/record/interrupt.h"

#include <poll.h>

namespace vesta::cli {
namespace {

volatile sig_atomic_t g_came = 0;

void note_interrupt(int /*signal_number*/) {
  g_came = 1;
}

}  // namespace

Interrupt::Interrupt() {
  g_came = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  // SA_RESETHAND: whoever presses it twice wants to be gone.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &previous_interrupt_);
  ::sigaction(SIGTERM, &action, &previous_terminate_);
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &previous_interrupt_, nullptr);
  ::sigaction(SIGTERM, &previous_terminate_, nullptr);
}

bool Interrupt::came() {
  return g_came != 0;
}

void Interrupt::wait(int milliseconds) {
  if (!came()) ::poll(nullptr, 0, milliseconds);  // a signal ends it early
}

void Interrupt::clear() {
  g_came = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace vesta::cli
