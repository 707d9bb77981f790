#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "cli/record/interrupt.h"
#include "cli/roles/server_role.h"
#include "cli/source.h"
#include "cli/web/browser.h"
#include "cli/web/temporary_folder.h"
#include "net/http_client.h"
#include "store/memory/memory_engine.h"

namespace vesta::cli {
namespace {

constexpr auto kGrace = std::chrono::seconds(1);
constexpr int kWaitMs = 60'000;
constexpr int64_t kYearNs = int64_t{365} * 86'400 * 1'000'000'000;
constexpr uint64_t kMaxFileBytes = uint64_t{2} << 30;

// A file as the server knows it once it is open.
struct ShownFile {
  std::string id;
  std::vector<std::string> types;  // as selectors name them, the one to show first at the front
};

// A server for one person on this machine, who looks at files: nothing listens but the web UI, and
// nothing is kept.
server::ServerConfig settings(const Arguments& arguments, const std::string& folder) {
  server::ServerConfig config;
  config.http = arguments.get("http", "127.0.0.1:0");
  // pprof's "localhost:8080", ":8080" and ":" mean this machine.
  if (config.http.starts_with("localhost:")) config.http.replace(0, 9, "127.0.0.1");
  if (config.http.starts_with(':')) config.http.insert(0, "127.0.0.1");
  if (config.http.ends_with(':')) config.http += '0';
  config.grpc.clear();
  config.otlp_http.clear();
  config.data = folder;
  config.audit = false;
  config.uploads.bytes = 0;
  config.debug_info_bytes = 0;
  config.limits.max_body_bytes = kMaxFileBytes;
  config.limits.max_decoded_bytes = kMaxFileBytes;
  config.request_memory = 2 * kMaxFileBytes;
  config.files.memory = config.files.tenant_memory = 2 * kMaxFileBytes;
  config.files.keep_ns = kYearNs;  // as long as the command runs
  config.log_level = LogLevel::kWarning;
  return config;
}

Result<ShownFile> parse_opened(const std::string& body) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  simdjson::dom::array types;
  std::string_view id;
  ShownFile out;
  if (parser.parse(body).get(document) != simdjson::SUCCESS ||
      document["id"].get(id) != simdjson::SUCCESS ||
      document["types"].get(types) != simdjson::SUCCESS) {
    return Error{ErrorCode::kIo, "the server's answer cannot be read", ""};
  }
  out.id = id;
  for (const simdjson::dom::element type : types) {
    std::string_view name;
    if (type["name"].get(name) == simdjson::SUCCESS) out.types.emplace_back(name);
  }
  return out;
}

// Opens a source on the server, as a person in the web UI would.
Result<ShownFile> open_on(const std::string& url, const std::string& source,
                          const Arguments& arguments) {
  VESTA_ASSIGN(const InputFile file, load_source_bytes(source, arguments));
  HttpCall call;
  call.method = "POST";
  call.url = fmt::format("{}/api/v1/files?name={}", url, percent_encode(source_title(source)));
  call.body = file.bytes();
  call.headers.emplace_back("Content-Type", "application/octet-stream");
  call.timeout = std::chrono::minutes(10);
  VESTA_ASSIGN(const HttpAnswer answer, http_call(call));
  if (answer.status == 200) return parse_opened(answer.body);
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  std::string_view message;
  if (parser.parse(answer.body).get(document) != simdjson::SUCCESS ||
      document["message"].get(message) != simdjson::SUCCESS) {
    message = answer.body;
  }
  return Error{ErrorCode::kInvalidInput, fmt::format("{}: {}", source, message),
               "vesta top SOURCE says more about a file that cannot be read"};
}

// The type that a person asked for, or the first that all files have.
std::string shown_type(const std::vector<ShownFile>& files, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  for (const std::string& type : files.back().types) {
    const auto has = [&](const ShownFile& file) {
      return std::ranges::find(file.types, type) != file.types.end();
    };
    if (std::ranges::all_of(files, has)) return type;
  }
  return files.back().types.empty() ? "cpu" : files.back().types.front();
}

std::string page_of(const std::string& url, const std::vector<ShownFile>& files,
                    const std::string& type, bool compare) {
  const std::string query =
      percent_encode(type.find('{') == std::string::npos ? type + "{}" : type);
  if (!compare) {
    return fmt::format("{}/?view=explore&query={}&file={}", url, query,
                       percent_encode(files.front().id));
  }
  return fmt::format("{}/?view=diff&query={}&file={}&baseline=1&base_file={}", url, query,
                     percent_encode(files.back().id), percent_encode(files.front().id));
}

Result<int> run(const Arguments& arguments, Console& console) {
  keep_files_private();
  std::vector<std::string> sources = arguments.positional;
  const bool compare = arguments.has("diff-base");
  if (compare) {
    if (sources.size() != 1) {
      return Error{ErrorCode::kUsage, "--diff-base compares with one profile",
                   "vesta web --diff-base BEFORE AFTER"};
    }
    sources.insert(sources.begin(), arguments.get("diff-base"));
  }
  VESTA_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make("vesta-web"));
  const server::ServerConfig config = settings(arguments, folder.path());
  Log log(stderr, config.log_format, config.log_level);
  server::ServerParts parts = server_parts(log);
  parts.open_engine = [](const server::ServerConfig&) -> Result<std::unique_ptr<Engine>> {
    return std::unique_ptr<Engine>(make_memory_engine());
  };
  const Interrupt interrupt;
  server::ServerApp app(config, std::move(parts), log);
  VESTA_TRY(app.start());
  const std::string url = server_url(app, config);
  std::vector<ShownFile> files;
  for (const std::string& source : sources) {
    VESTA_ASSIGN(ShownFile file, open_on(url, source, arguments));
    files.push_back(std::move(file));
  }
  const std::string page = page_of(url, files, shown_type(files, arguments.get("type")), compare);
  VESTA_TRY(console.print(fmt::format("{}\n", page)));
  if (!arguments.has("no-browser") && !open_browser(page))
    console.note("no browser could be started; open the address above in one");
  console.note("Ctrl-C ends it");
  while (!Interrupt::came()) Interrupt::wait(kWaitMs);
  app.stop(kGrace);
  return kOk;
}

}  // namespace

Command web_command() {
  Command c;
  c.name = "web";
  c.summary = "The web UI on profiles: flame graph, table, call tree, comparison";
  c.arguments = "SOURCE…";
  c.description =
      "Starts a server for this machine alone, opens the profiles in it and a browser on them, and "
      "ends with Ctrl-C. Nothing is stored. The first profile is shown; the others are in the list "
      "of open files. With --diff-base, two are compared.";
  c.examples = {"vesta web cpu.pb.gz", "vesta web --diff-base before.pb.gz after.pb.gz",
                "vesta web --no-browser --http 127.0.0.1:8080 cpu.pb.gz",
                "vesta web http://localhost:6060/debug/pprof/profile?seconds=5",
                "perf script | vesta web -"};
  c.min_arguments = 1;
  c.flags =
      with_flags({{"diff-base", 0, "SOURCE", "compare with this profile"},
                  {"http", 0, "ADDRESS", "where to listen (default a free port of 127.0.0.1)"},
                  {"no-browser", 0, "", "print the address only"},
                  {"type", 't', "TYPE", "profile type to show first"}},
                 {without(input_flags(), {"base", "allow-negative", "timestamps", "otlp-layout",
                                          "input-format", "max-depth"})});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
