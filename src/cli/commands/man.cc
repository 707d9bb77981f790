#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/man_page.h"

namespace vesta::cli {

Command man_command() {
  Command c;
  c.name = "man";
  c.summary = "Print the manual page";
  c.examples = {"vesta man | man -l -  # read it",
                "vesta man > /usr/local/share/man/man1/vesta.1  # install it"};
  c.max_arguments = 0;
  c.flags = with_flags({}, {});
  c.run = [](const Arguments&, Console& console) -> Result<int> {
    VESTA_TRY(console.print(man_page(all_commands(), build_info().version)));
    return kOk;
  };
  return c;
}

}  // namespace vesta::cli
