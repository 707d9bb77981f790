#include "cli/commands.h"
#include "cli/common_flags.h"

#include "base/json_writer.h"

namespace vesta::cli {

Command version_command() {
  Command c;
  c.name = "version";
  c.summary = "Which version this is";
  c.max_arguments = 0;
  c.flags =
      with_flags({{"output", 'o', "FORMAT", "text or json (default text)", {"text", "json"}}}, {});
  c.run = [](const Arguments& arguments, Console& console) -> Result<int> {
    JsonWriter json;
    json.begin_object().field("name", "vesta").field("version", VESTA_VERSION).end_object();
    VESTA_TRY(console.print(arguments.get("output") == "json" ? json.take() + "\n"
                                                              : "vesta " VESTA_VERSION "\n"));
    return kOk;
  };
  return c;
}

}  // namespace vesta::cli
