#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "cli/source.h"
#include "formats/registry.h"

namespace vesta::cli {
namespace {

Result<int> run_export(const Arguments& arguments, Console& console) {
  const std::string path = arguments.get("output");
  if (path.empty())
    return Error{ErrorCode::kUsage, "export needs -o FILE", "for example: -o checkout.pb.gz"};
  VESTA_ASSIGN(const ProfileBatch batch, load_source(arguments.positional[0], arguments));
  EncodeOptions options;
  options.format = arguments.get("format");
  VESTA_ASSIGN(const std::string bytes, encode_for_path(batch, path, options));
  VESTA_TRY(write_file(path, bytes));
  if (path != "-") console.note(fmt::format("wrote {}", path));
  return kOk;
}

}  // namespace

Command export_command() {
  Command c;
  c.name = "export";
  c.summary = "Export a time range of a selector to a file";
  c.arguments = "SELECTOR";
  c.description =
      "The extension of the output file selects the format: " + writable_endings() + ".";
  c.examples = {"vesta export 'cpu{service_name=\"checkout\"}' --from -24h -o checkout.pb.gz",
                "vesta export 'alloc{}' --from 2026-11-10T14:30:00Z --to 2026-11-10T15:00:00Z -o - "
                "--format folded"};
  c.min_arguments = 1;
  c.max_arguments = 1;
  c.flags =
      with_flags({{"output", 'o', "FILE", "output file, - for standard output"},
                  {"format", 0, "FORMAT", "output format, if the extension does not determine it",
                   writable_format_names()}},
                 {input_flags()});
  c.run = run_export;
  return c;
}

}  // namespace vesta::cli
