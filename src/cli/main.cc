#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/run.h"

int main(int argc, char** argv) {
  // A reader that goes away shows up as EPIPE where we write, not as a signal.
  std::signal(SIGPIPE, SIG_IGN);
  vesta::cli::Console console(stdout, stderr);
  try {
    return vesta::cli::run(std::vector<std::string>(argv + 1, argv + argc), console);
  } catch (const std::bad_alloc&) {
    console.error({vesta::ErrorCode::kLimit, "out of memory",
                   "lower --max-size, or use a machine with more memory"});
  } catch (const std::exception& e) {
    console.error({vesta::ErrorCode::kIo, std::string("internal error: ") + e.what(),
                   "report this as a bug, with the input"});
  }
  return 1;
}
