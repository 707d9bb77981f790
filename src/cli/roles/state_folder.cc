#include "cli/roles/state_folder.h"

#include <unistd.h>

#include <cstdlib>

namespace vesta::cli {
namespace {

// Only absolute ones: where a program happens to be started must not decide.
std::string absolute(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody changes it
  return value != nullptr && value[0] == '/' ? value : "";
}

}  // namespace

std::string default_state_folder() {
  // Several are separated by colons; the first is the main one.
  if (std::string folder = absolute("STATE_DIRECTORY"); !folder.empty())
    return folder.substr(0, folder.find(':'));
  if (const std::string folder = absolute("XDG_STATE_HOME"); !folder.empty())
    return folder + "/vesta";
  const std::string home = absolute("HOME");
  return ::geteuid() == 0 || home.empty() ? "/var/lib/vesta" : home + "/.local/state/vesta";
}

}  // namespace vesta::cli
