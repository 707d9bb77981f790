#include "agent/config/exporter_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/time.h"
#include "config/node.h"

namespace vesta::agent {
namespace {

using config::Choice;
using config::Count;
using config::Duration;
using config::field;
using config::Fields;
using config::Node;
using config::Reader;
using config::Size;
using config::Switch;
using config::Text;

const Choice<ExporterKind>& kinds() {
  static const Choice<ExporterKind> kKinds = {{"otlp", ExporterKind::kOtlpGrpc},
                                              {"otlp_http", ExporterKind::kOtlpHttp},
                                              {"pyroscope", ExporterKind::kPyroscopePush},
                                              {"pyroscope_ingest", ExporterKind::kPyroscopeIngest},
                                              {"files", ExporterKind::kFiles},
                                              {"otlp_logs", ExporterKind::kOtlpLogs}};
  return kKinds;
}

bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

Status check_header_name(std::string_view name) {
  if (!name.empty() && name.size() <= 256 && std::ranges::all_of(name, is_token_character)) {
    return {};
  }
  return config::not_a(name, "the name of a header");
}

bool is_header_value(std::string_view value) {
  return value.size() <= 16 * 1024 && std::ranges::none_of(value, [](char c) {
           return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
         });
}

// The value of a header; it may be a secret, so that no error repeats it.
struct HeaderValue {
  static constexpr bool kIsText = true;

  std::string name() const { return "text"; }
  Status parse(std::string_view word, std::string& to) const {
    if (!is_header_value(word)) {
      return Error{ErrorCode::kUsage, "use one line without control characters", {}};
    }
    to = word;
    return {};
  }
  std::string text(const std::string& value) const { return config::Secret().text(value); }
};

// As it is written; what it has to look like depends on the type.
Fields fields_of(ExporterConfig& e) {
  return {
      field("type", kinds(), e.kind),
      field("name", Text(), e.name),
      field("endpoint", Text{false}, e.endpoint),
      field("headers", config::MapOf<HeaderValue>{{}, check_header_name}, e.headers),
      shown_if_set(field("headers_file", Text{false}, e.headers_file)),
      field("tls.ca", Text(), e.tls.ca_file),
      field("tls.cert", Text(), e.tls.cert_file),
      field("tls.key", Text(), e.tls.key_file),
      field("tls.skip_verify", Switch(), e.tls.skip_verify),
      field("compression", Choice<bool>{{"gzip", true}, {"none", false}}, e.gzip),
      field("timeout", Duration{kSecond, 600 * kSecond}, e.timeout_ns),
      field("upload_interval", Duration{0, kDay}, e.upload_interval_ns),
      field("queue.max_bytes", Size{uint64_t{1} << 20}, e.queue_bytes),
      field("queue.max_age", Duration{60 * kSecond, 366 * kDay}, e.queue_age_ns),
      field("directory", Text{false}, e.directory),
      field("max_files", Count{1, 10'000'000}, e.max_files),
      field("max_bytes", Size{uint64_t{1} << 20}, e.max_bytes),
  };
}

// "host:port", "[::1]:port"
bool is_authority(std::string_view text, bool wants_port) {
  if (text.empty() || text.size() > 512) return false;
  size_t host_end = 0;
  if (text.front() == '[') {
    host_end = std::min(text.find(']'), text.size() - 1) + 1;
    if (text[host_end - 1] != ']' || host_end < 4) return false;
  } else {
    host_end = std::min(text.find(':'), text.size());
  }
  const std::string_view host = text.substr(0, host_end);
  const bool is_host = !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_[]:").find(c) != std::string_view::npos;
  });
  if (!is_host) return false;
  if (host_end == text.size()) return !wants_port;
  uint16_t port = 0;
  return text[host_end] == ':' && Count{1, 65'535}.parse(text.substr(host_end + 1), port).ok();
}

// What follows http:// or https://; empty when the text begins otherwise.
std::string_view after_scheme(std::string_view url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (url.starts_with(scheme)) return url.substr(scheme.size());
  }
  return {};
}

Status check_grpc_endpoint(std::string_view word) {
  std::string_view authority = word;
  if (const std::string_view rest = after_scheme(word); !rest.empty()) authority = rest;
  if (authority.ends_with('/')) authority.remove_suffix(1);
  if (is_authority(authority, true)) return {};
  return config::not_a(word, "a host and its port",
                       "gRPC uses no path: collector:4317, or https://collector:4317 for TLS");
}

Status complete_endpoint(ExporterConfig& e) {
  switch (e.kind) {
    case ExporterKind::kFiles:
      return {};
    case ExporterKind::kOtlpGrpc:
      if (e.endpoint.empty()) e.endpoint = "localhost:4317";
      return check_grpc_endpoint(e.endpoint);
    case ExporterKind::kOtlpHttp:
      if (e.endpoint.empty()) e.endpoint = "http://localhost:4318";
      return HttpUrl{kOtlpProfilesPath}.parse(std::string(e.endpoint), e.endpoint);
    case ExporterKind::kOtlpLogs:
      if (e.endpoint.empty()) e.endpoint = "http://localhost:4318";
      return HttpUrl{kOtlpLogsPath}.parse(std::string(e.endpoint), e.endpoint);
    case ExporterKind::kPyroscopePush:
    case ExporterKind::kPyroscopeIngest:
      if (e.endpoint.empty()) e.endpoint = "http://localhost:4040";
      return HttpUrl{}.parse(std::string(e.endpoint), e.endpoint);
  }
  return {};
}

config::Position place_of(const Node& node, std::string_view key) {
  const auto found = std::ranges::find(node.members, key, &config::Member::key);
  return found == node.members.end() ? node.at : found->at;
}

// Keys of other types, which this one has no use for.
bool is_foreign(std::string_view key, ExporterKind kind) {
  static constexpr auto kOfFiles =
      std::to_array<std::string_view>({"directory", "max_files", "max_bytes"});
  static constexpr auto kOfAll = std::to_array<std::string_view>({"type", "name"});
  if (std::ranges::find(kOfAll, key) != kOfAll.end()) return false;
  const bool is_of_files = std::ranges::find(kOfFiles, key) != kOfFiles.end();
  return is_of_files != (kind == ExporterKind::kFiles);
}

void check_keys_of_type(Reader& reader, const Node& node, const std::string& path,
                        const ExporterConfig& e) {
  for (const config::Member& member : node.members) {
    if (!is_foreign(member.key, e.kind)) continue;
    reader.fail(member.at, fmt::format("{}.{}", path, member.key),
                fmt::format("an exporter of type {} has no such key", exporter_kind_name(e.kind)),
                member.key == "max_bytes" ? "did you mean queue.max_bytes?" : "");
  }
}

void check_exporter(Reader& reader, const Node& node, const std::string& path, ExporterConfig& e) {
  if (node.find("type") == nullptr) {
    return reader.fail(node.at, path, "type is missing", "it is " + kinds().name());
  }
  check_keys_of_type(reader, node, path, e);
  if (e.kind == ExporterKind::kFiles && e.directory.empty()) {
    reader.fail(node.at, path, "directory is missing", "set directory");
  }
  if (const Status status = complete_endpoint(e); !status.ok()) {
    const Node* endpoint = node.find("endpoint");
    reader.fail(endpoint == nullptr ? node.at : endpoint->at, path + ".endpoint", status.error());
  }
  if (e.tls.cert_file.empty() != e.tls.key_file.empty()) {
    reader.fail(place_of(node, "tls"), path + ".tls", "cert and key must be set together",
                "set both cert and key");
  }
  if (e.name.empty()) return;
  if (const Status status = check_exporter_name(e.name); !status.ok()) {
    reader.fail(place_of(node, "name"), path + ".name", status.error());
  }
}

constexpr config::GroupList<ExporterConfig> kExporters = {{fields_of, check_exporter}};

}  // namespace

Status HttpUrl::parse(std::string_view word, std::string& to) const {
  if (word.empty() && may_be_empty) return to.clear(), Status();
  const std::string_view rest = after_scheme(word);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    return Error{ErrorCode::kUsage, "a URL must not contain a user or password",
                 "use the header authorization"};
  }
  const bool is_clean = std::ranges::none_of(
      word, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#'; });
  if (!is_authority(authority, false) || !is_clean || word.size() > 4096) {
    return config::not_a(word, "a URL", "use http://HOST:PORT or https://HOST:PORT");
  }
  const std::string_view tail = rest.substr(authority.size());
  std::string out(word);
  if (!path.empty() && (tail.empty() || tail == "/")) {
    out.resize(word.size() - tail.size());
    out += path;
  }
  to = std::move(out);
  return {};
}

std::string exporter_kind_name(ExporterKind kind) {
  return kinds().text(kind);
}

Status check_exporter_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 64 && name.front() != '.' &&
                    std::ranges::all_of(name, [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                    });
  if (fits) return {};
  return config::not_a(name, "a name for an exporter", "use up to 64 letters, digits, - _ and .");
}

std::vector<std::string> ExporterList::below() const {
  return kExporters.below();
}

void ExporterList::read(Reader& reader, const Node& node, const std::string& path,
                        std::vector<ExporterConfig>& to) const {
  kExporters.read(reader, node, path, to);
}

Node ExporterList::show(const std::vector<ExporterConfig>& exporters) const {
  std::vector<Node> shown;
  for (const ExporterConfig& exporter : exporters) {
    if (!exporter.made_by.empty()) continue;
    Node node = kExporters.group.show(exporter);
    std::erase_if(node.members, [&](const config::Member& member) {
      return is_foreign(member.key, exporter.kind);
    });
    shown.push_back(std::move(node));
  }
  return Node::of_list(std::move(shown));
}

Result<std::vector<std::pair<std::string, std::string>>> parse_headers(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> headers;
  size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    const auto trim = [](std::string_view part) {
      const size_t first = part.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) return std::string_view();
      return part.substr(first, part.find_last_not_of(" \t\r") - first + 1);
    };
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    const size_t colon = line.find(':');
    const std::string_view name = trim(line.substr(0, colon));
    if (colon == std::string_view::npos || !check_header_name(name).ok() ||
        !is_header_value(line.substr(colon + 1))) {
      return Error{ErrorCode::kUsage, fmt::format("line {} is not a header", number),
                   "use Name: value"};
    }
    headers.emplace_back(name, trim(line.substr(colon + 1)));
  }
  return headers;
}

}  // namespace vesta::agent
