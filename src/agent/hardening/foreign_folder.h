// Root may write anywhere by CAP_DAC_OVERRIDE, which a running agent gives up. Then a folder of
// another user is one that it can no longer write to. Pure, but for looking at the disk.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace vesta::agent {

// The first of the folders, or of what lies directly in them, whose owner is not this process's
// user. What is not there yet will be its own.
std::optional<std::string> foreign_folder(std::span<const std::string> folders);

}  // namespace vesta::agent
