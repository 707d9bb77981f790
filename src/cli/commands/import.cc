#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "query/time_words.h"

namespace vesta::cli {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 30;

Result<int> run(const Arguments& arguments, Console& console) {
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
                   parse_time_word(arguments.get("time"),
                                   static_cast<int64_t>(clock_ns(CLOCK_REALTIME)), "--time"));
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
  c.summary = "Put profile files into a server, with labels and a time";
  c.arguments = "FILE…";
  c.description =
      "Any format that vesta reads. A file that was imported already is not stored twice.";
  c.examples = {"vesta import cpu.pb.gz --service checkout",
                "vesta import *.jfr --service shop --labels region=eu,version=1.2 --time "
                "2026-11-15T14:30:00Z"};
  c.min_arguments = 1;
  c.flags = with_flags(
      {{"service", 's', "NAME", "the service it is of (default what the file says)"},
       {"labels", 'l', "A=B,C=D", "labels of the series"},
       {"time", 0, "TIME", "when it was taken (default what the file says, or else now)"},
       {"type", 't', "TYPE", "its type, where the file does not say"},
       {"input-format", 0, "NAME", "do not guess the format of the files"}},
      {without(server_flags(), {"from", "to"})});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
