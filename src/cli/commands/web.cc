#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "base/log.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "cli/record/interrupt.h"
#include "cli/roles/server_role.h"
#include "cli/server_client.h"
#include "cli/source.h"
#include "cli/web/browser.h"
#include "cli/web/temporary_folder.h"
#include "net/http_client.h"
#include "store/engines/engines.h"

namespace vesta::cli {
namespace {

constexpr auto kPagesGrace = std::chrono::seconds(1);
constexpr int kWaitMs = 60'000;
constexpr int64_t kYearNs = 365 * kDay;
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
  VESTA_ASSIGN(const JsonTree tree, JsonTree::parse(body));
  ShownFile out;
  VESTA_ASSIGN(out.id, tree.root()["id"].text());
  VESTA_ASSIGN(const auto types, tree.root()["types"].list());
  for (const Json& type : types) {
    if (const auto name = type["name"].text(); name.ok()) out.types.emplace_back(*name);
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
  if (answer.status == 200) {
    auto opened = parse_opened(answer.body);
    if (opened.ok()) return opened;
    return with_context(opened.error(), "cannot read the answer of the server");
  }
  return Error{ErrorCode::kInvalidInput, fmt::format("{}: {}", source, message_of(answer.body)),
               "try vesta top SOURCE, which explains why a file cannot be read"};
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

Result<int> run_web(const Arguments& arguments, Console& console) {
  keep_files_private();
  std::vector<std::string> sources = arguments.positional;
  const bool compare = arguments.has("diff-base");
  if (compare) {
    if (sources.size() != 1) {
      return Error{ErrorCode::kUsage, "--diff-base takes exactly one other profile",
                   "try vesta web --diff-base BEFORE AFTER"};
    }
    sources.insert(sources.begin(), arguments.get("diff-base"));
  }
  VESTA_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make("vesta-web"));
  const server::ServerConfig config = settings(arguments, folder.path());
  Log log(stderr, config.log_format, config.log_level);
  server::ServerParts parts = server_parts(log);
  parts.open_engine = [](const server::ServerConfig&) { return temporary_engine().open({}); };
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
    console.note("cannot start a browser; open the address above");
  console.note("press Ctrl-C to stop");
  while (!Interrupt::came()) Interrupt::wait(kWaitMs);
  app.stop(kPagesGrace);
  return kOk;
}

}  // namespace

Command web_command() {
  Command c;
  c.name = "web";
  c.summary = "Open profiles in the web UI";
  c.arguments = "SOURCE…";
  c.description =
      "Starts a local server, opens the profiles in it, opens a browser, and stops at Ctrl-C. "
      "Stores nothing. Shows the first profile; the others are in the list of open files. With "
      "--diff-base it shows a comparison.";
  c.examples = {"vesta web cpu.pb.gz", "vesta web --diff-base before.pb.gz after.pb.gz",
                "vesta web --no-browser --http 127.0.0.1:8080 cpu.pb.gz",
                "vesta web http://localhost:6060/debug/pprof/profile?seconds=5",
                "perf script | vesta web -"};
  c.min_arguments = 1;
  c.flags =
      with_flags({{"diff-base", 0, "SOURCE", "compare with this profile"},
                  {"http", 0, "ADDRESS", "listen address (default: a free port of 127.0.0.1)"},
                  {"no-browser", 0, "", "print the address without opening a browser"},
                  {"type", 't', "TYPE", "profile type to show first"}},
                 {without(input_flags(), {"base", "allow-negative", "timestamps", "otlp-layout",
                                          "input-format", "max-depth"})});
  c.run = run_web;
  return c;
}

}  // namespace vesta::cli
