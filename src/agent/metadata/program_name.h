// What a program is called: as it was started, not as the file behind a link is named; by its
// script when an interpreter runs it; with its folder when the name alone says nothing, as main.py
// does. Pure functions of texts that may be anything; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace vesta::agent {

struct ProgramStart {
  std::string_view executable;    // path of the file that runs
  std::string_view thread_name;   // of the first thread; the kernel sets it to the name that was
                                  // started, cut to 15 bytes, and the program may change it
  std::string_view command_line;  // as in /proc/PID/cmdline; empty when it cannot be read any more
  // The working folder; asked only when a path is relative and its folder matters.
  std::function<std::string()> working_folder = {};
};

// Whether the command line would tell more than executable and thread name do.
bool needs_command_line(std::string_view executable, std::string_view thread_name);

// Empty when there is no executable.
std::string program_name(const ProgramStart& start);

}  // namespace vesta::agent
