#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/time_words.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"

namespace vesta::cli {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 30;

Result<int> run_import(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  for (const std::string& path : arguments.positional) {
    VESTA_ASSIGN(const InputFile file, InputFile::open(path, kMaxFile));
    ServerClient::Parameters parameters;
    const auto pass_on = [&](const char* flag, const char* name) {
      if (arguments.has(flag)) parameters.emplace_back(name, arguments.get(flag));
    };
    pass_on("service", "service_name");
    pass_on("labels", "labels");
    if (arguments.has("time")) {
      VESTA_ASSIGN(const int64_t time_ns,
                   parse_time_word(arguments.get("time"), unix_now().ns, "--time"));
      parameters.emplace_back("time", std::to_string(time_ns));
    }
    pass_on("type", "type");
    pass_on("input-format", "format");
    auto answer = client.post("/api/v1/profiles", parameters, std::string(file.bytes()));
    if (!answer.ok()) return with_context(std::move(answer).error(), path);
    console.note(fmt::format("imported {}", path));
  }
  return kOk;
}

}  // namespace

Command import_command() {
  Command c;
  c.name = "import";
  c.summary = "Import profile files into a server";
  c.arguments = "FILE…";
  c.description = "Reads any format that Vesta supports. A file imported twice is stored once.";
  c.examples = {"vesta import cpu.pb.gz --service checkout",
                "vesta import *.jfr --service shop --labels region=eu,version=1.2 --time "
                "2026-11-15T14:30:00Z"};
  c.min_arguments = 1;
  c.flags = with_flags(
      {{"service", 's', "NAME", "service name (default: from the file)"},
       {"labels", 'l', "A=B,C=D", "labels to add to the profiles"},
       {"time", 0, "TIME", "time of the profile (default: from the file, otherwise now)"},
       {"type", 't', "TYPE", "profile type, if the file does not state it"},
       {"input-format", 0, "NAME", "read the files as this format instead of detecting it"}},
      {without(server_flags(), {"from", "to"})});
  c.run = run_import;
  return c;
}

}  // namespace vesta::cli
