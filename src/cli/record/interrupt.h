// Ctrl-C as a question that can be asked instead of a blow: while one of these lives, SIGINT and
// SIGTERM are noted, and the second one ends the program as usual. One at a time; signals are
// process-wide.
#pragma once

#include <csignal>

namespace vesta::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool came();
  // Waits, at most `milliseconds`, but no longer than until it comes.
  static void wait(int milliseconds);
  // So that the next phase can be interrupted by itself.
  static void clear();

 private:
  struct sigaction previous_interrupt_ {};
  struct sigaction previous_terminate_ {};
};

}  // namespace vesta::cli
