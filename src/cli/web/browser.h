// Opening an address in the browser of the person who runs a command. Plain function.
#pragma once

#include <string>

namespace vesta::cli {

// BROWSER, or xdg-open. False where there is neither, or no display to show one on. The browser
// runs on by itself.
bool open_browser(const std::string& url);

}  // namespace vesta::cli
