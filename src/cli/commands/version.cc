#include <fmt/format.h>

#include "base/json_writer.h"
#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/common_flags.h"

namespace vesta::cli {
namespace {

Result<int> run_version(const Arguments& arguments, Console& console) {
  const BuildInfo info = build_info();
  if (arguments.get("output") == "json") {
    JsonWriter json;
    json.begin_object()
        .field("name", "vesta")
        .field("version", info.version)
        .field("commit", info.commit)
        .field("build", info.build)
        .field("compiler", info.compiler)
        .end_object();
    VESTA_TRY(console.print(json.take() + "\n"));
    return kOk;
  }
  VESTA_TRY(console.print(fmt::format("vesta {} (commit {}, {} build, {})\n", info.version,
                                      info.commit, info.build, info.compiler)));
  return kOk;
}

}  // namespace

Command version_command() {
  Command c;
  c.name = "version";
  c.summary = "Print the version, the commit and the build";
  c.max_arguments = 0;
  c.flags =
      with_flags({{"output", 'o', "FORMAT", "text or json (default text)", {"text", "json"}}}, {});
  c.run = run_version;
  return c;
}

}  // namespace vesta::cli
