#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/source.h"
#include "formats/registry.h"

namespace vesta::cli {
namespace {

Result<int> run_merge(const Arguments& arguments, Console& console) {
  const std::string path = arguments.get("output");
  if (path.empty())
    return Error{ErrorCode::kUsage, "merge needs -o FILE", "for example: -o merged.pb.gz"};
  VESTA_ASSIGN(const auto batch, load_sources(arguments.positional, arguments, console));
  VESTA_ASSIGN(const std::string bytes, encode_for_path(*batch, path, {}));
  VESTA_TRY(write_file(path, bytes));
  if (path != "-")
    console.note(fmt::format("wrote {} ({} sources)", path, arguments.positional.size()));
  return kOk;
}

}  // namespace

Command merge_command() {
  Command c;
  c.name = "merge";
  c.summary = "Merge several profiles into one";
  c.arguments = "SOURCE SOURCE…";
  c.description = "The order of the sources does not affect the result.";
  c.examples = {"vesta merge pod-*.pb.gz -o service.pb.gz",
                "vesta merge --gauges average heap-1.pb.gz heap-2.pb.gz -o heap.pb.gz"};
  c.min_arguments = 1;
  c.flags = with_flags({{"output", 'o', "FILE",
                         "output file; its extension selects the format: " + writable_endings()},
                        {"gauges",
                         0,
                         "HOW",
                         "how to merge gauges such as heap in use (default sum)",
                         {"sum", "average"}}},
                       {input_flags()});
  c.run = run_merge;
  return c;
}

}  // namespace vesta::cli
