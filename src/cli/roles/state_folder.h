// Where a role keeps what must survive it, when nobody said. Plain function.
#pragma once

#include <string>

namespace vesta::cli {

// STATE_DIRECTORY of a service manager, XDG_STATE_HOME/vesta, /var/lib/vesta for root, else
// ~/.local/state/vesta.
std::string default_state_folder();

}  // namespace vesta::cli
