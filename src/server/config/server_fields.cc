#include "server/config/server_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time.h"
#include "config/values.h"
#include "net/listen_address.h"
#include "server/access/token.h"
#include "server/config/link_template.h"

namespace vesta::server {
namespace {

using config::Choice;
using config::Count;
using config::Decimal;
using config::Duration;
using config::field;
using config::Fields;
using config::Node;
using config::Reader;
using config::Size;
using config::Switch;
using config::Text;

// Where to listen, or "" for nowhere.
struct Listen {
  static constexpr bool kIsText = true;

  std::string name() const { return "address"; }
  Status parse(std::string_view word, std::string& to) const {
    if (!word.empty()) VESTA_TRY(parse_listen_address(word, "the address"));
    to = word;
    return {};
  }
  std::string text(const std::string& value) const { return value; }
};

// "/vesta": plain words, so that it looks the same in every address.
struct PathPrefix {
  static constexpr bool kIsText = true;

  std::string name() const { return "path"; }
  Status parse(std::string_view word, std::string& to) const {
    const auto is_plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("/-_.~").find(c) != std::string_view::npos;
    };
    const bool has_shape =
        word.starts_with('/') && !word.ends_with('/') && word.find("//") == std::string_view::npos;
    if (!word.empty() && (!has_shape || !std::ranges::all_of(word, is_plain))) {
      return config::not_a(word, "a path such as /vesta");
    }
    to = word;
    return {};
  }
  std::string text(const std::string& value) const { return value; }
};

// "30d", "12h"; 0 = for ever.
struct Keep {
  static constexpr bool kIsText = true;

  std::string name() const { return "duration"; }
  Status parse(std::string_view word, int64_t& to_ns) const {
    int64_t ns = 0;
    VESTA_TRY(Duration().parse(word, ns));
    // The store forgets whole hours.
    if (ns != 0 && ns < kHour) return config::not_a(word, "one hour or more, or 0 for unlimited");
    to_ns = ns;
    return {};
  }
  std::string text(int64_t ns) const { return config::duration_text(ns); }
};

// The rule for services that have none of their own.
struct DefaultRule {
  static constexpr bool kIsText = true;

  std::string name() const { return Keep().name(); }
  Status parse(std::string_view word, RetentionPolicy& to) const {
    int64_t keep_ns = 0;
    VESTA_TRY(Keep().parse(word, keep_ns));
    std::erase_if(to.rules, [](const RetentionRule& rule) { return rule.service.empty(); });
    to.rules.push_back({"", keep_ns});
    return {};
  }
  std::string text(const RetentionPolicy& policy) const {
    const auto found = std::ranges::find(policy.rules, "", &RetentionRule::service);
    return Keep().text(found == policy.rules.end() ? 0 : found->keep_ns);
  }
};

struct ServiceRules {
  using Map = std::map<std::string, int64_t>;
  config::MapOf<Keep> map;

  std::string name() const { return map.name(); }
  std::vector<std::string> below() const { return map.below(); }
  void read(Reader& reader, const Node& node, const std::string& path, RetentionPolicy& to) const {
    Map rules;
    map.read(reader, node, path, rules);
    std::erase_if(to.rules, [](const RetentionRule& rule) { return !rule.service.empty(); });
    for (const auto& [service, keep_ns] : rules) to.rules.push_back({service, keep_ns});
  }
  Node show(const RetentionPolicy& policy) const {
    Map rules;
    for (const RetentionRule& rule : policy.rules) {
      if (!rule.service.empty()) rules[rule.service] = rule.keep_ns;
    }
    return map.show(rules);
  }
};

Fields fields_of(TenantLimits& l) {
  return {
      field("max_body_bytes", Size(), l.max_body_bytes),
      field("max_decoded_bytes", Size(), l.max_decoded_bytes),
      field("max_samples", Count(), l.max_samples),
      field("max_stack_depth", Count(), l.max_stack_depth),
      field("max_string_bytes", Size(), l.max_string_bytes),
      field("max_labels_per_sample", Count(), l.max_labels_per_sample),
      field("max_labels_per_series", Count(), l.max_labels_per_series),
      field("max_label_name_bytes", Size(), l.max_label_name_bytes),
      field("max_label_value_bytes", Size(), l.max_label_value_bytes),
      field("max_series_per_profile", Count(), l.max_series_per_profile),
      field("max_series", Count(), l.max_series),
      field("bytes_per_second", Size(), l.bytes_per_second),
      field("burst_bytes", Size(), l.burst_bytes),
      field("max_age", Duration(), l.max_age_ns),
      field("max_ahead", Duration(), l.max_ahead_ns),
  };
}

Fields fields_of_source(SourceFolder& s) {
  return {field("prefix", Text(), s.prefix), field("folder", Text{false}, s.folder)};
}

void check_source(Reader& reader, const Node& node, const std::string& path, SourceFolder& source) {
  if (!source.folder.starts_with('/'))
    reader.fail(node.at, path + ".folder", "the folder must be a path that starts with /");
}

// Each tenant has what all have, unless it says otherwise. Fields are read in the order of their
// table, so that the limits of all are known by now.
struct TenantMap {
  using Group = config::Group<TenantLimits>;
  const TenantLimits* all = nullptr;

  std::string name() const { return "map of keys"; }
  std::vector<std::string> below() const { return config::MapOf<Group>{{fields_of}}.below(); }
  template <class Map>
  void read(Reader& reader, const Node& node, const std::string& path, Map& to) const {
    if (!node.is_map() && !node.is_nothing()) {
      return reader.fail(node.at, path, "must be a map of tenants");
    }
    to.clear();
    for (const config::Member& member : node.members) {
      if (const Status status = check_tenant_id(member.key); !status.ok()) {
        reader.fail(member.at, path, status.error());
        continue;
      }
      TenantLimits limits = *all;
      const std::string below = fmt::format("{}.{}", path, member.key);
      for (const config::Field& limit : fields_of(limits)) {
        reader.inherit_origin(fmt::format("{}.{}", below, limit.key), "limits." + limit.key);
      }
      read_fields(reader, member.value, below, fields_of(limits));
      to[member.key] = limits;
    }
  }
  template <class Map>
  Node show(const Map& tenants) const {
    return config::MapOf<Group>{{fields_of}}.show(tenants);
  }
};

}  // namespace

// One line per key: the whole configuration at a glance.
config::Fields server_fields(ServerConfig& c) {
  HttpLimits& h = c.http_limits;
  config::Fields fields = {
      field("server.http", Listen(), c.http),
      field("server.grpc", Listen(), c.grpc),
      field("server.otlp_http", Listen(), c.otlp_http),
      field("server.data", Text(), c.data),
      field("server.path_prefix", PathPrefix(), c.path_prefix),
      field("server.hosts", config::ListOf<Text>{{false}}, c.hosts),
      field("server.backups", Text(), c.backups),
      field("server.max_connections", Count(), h.max_connections),
      field("server.keep_timestamps", Switch(), c.keep_timestamps),
      field("server.java_names",
            Choice<JavaNames>{{"pyroscope", JavaNames::kPyroscope}, {"dots", JavaNames::kDots}},
            c.java_names),
      field("server.request_memory", Size(), c.request_memory),
      field("server.answer_memory", Size(), c.answer_memory),
      field("server.header_timeout", Duration(), h.header_timeout),
      field("server.body_timeout", Duration(), h.body_timeout),
      field("server.write_timeout", Duration(), h.write_timeout),
      field("server.idle_timeout", Duration(), h.idle_timeout),
      field("server.ui.trace_link", trace_link(), c.ui.trace_link),
      field("server.ui.span_link", span_link(), c.ui.span_link),
      field("server.ui.editor_link", editor_link(), c.ui.editor_link),
      field("server.ui.cost_per_core_hour", Decimal(), c.ui.cost_per_core_hour),
      field("server.ui.co2_per_core_hour", Decimal(), c.ui.co2_per_core_hour),
      field("server.sources", config::groups(fields_of_source, check_source), c.sources),
      field("server.files.memory", Size(), c.files.memory),
      field("server.files.tenant_memory", Size(), c.files.tenant_memory),
      field("server.files.count", Count(), c.files.count),
      field("server.files.keep", Duration(), c.files.keep_ns),
      field("server.uploads.count", Count(), c.uploads.count),
      field("server.uploads.bytes", Size(), c.uploads.bytes),
      field("server.debug_info.bytes", Size(), c.debug_info_bytes),
      field("tls.cert", Text(), c.tls.certificate),
      field("tls.key", Text(), c.tls.key),
      field("tls.client_ca", Text(), c.tls.client_ca),
      field("auth.tokens",
            Choice<TokenPolicy>{{"auto", TokenPolicy::kAuto},
                                {"required", TokenPolicy::kRequired},
                                {"off", TokenPolicy::kOff}},
            c.tokens),
      field("auth.audit", Switch(), c.audit),
      field("multi_tenant", Switch(), c.multi_tenant),
      field("retention.default", DefaultRule(), c.retention),
      field("retention.services", ServiceRules(), c.retention),
      field("retention.max_bytes", Size(), c.retention.max_bytes),
      field("query.memory", Size(), c.query_memory),
      field("query.total_memory", Size(), c.query_total_memory),
      field("query.timeout", Duration(), c.query_timeout_ns),
      field("query.max_nodes", Count(), c.query_max_nodes),
      field("log.level",
            Choice<LogLevel>{{"debug", LogLevel::kDebug},
                             {"info", LogLevel::kInfo},
                             {"warning", LogLevel::kWarning},
                             {"error", LogLevel::kError}},
            c.log_level),
      field("log.format", Choice<LogFormat>{{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
            c.log_format),
  };
  for (config::Field& limit : fields_of(c.limits)) {
    limit.key.insert(0, "limits.");
    fields.push_back(std::move(limit));
  }
  fields.push_back(field("limits.tenants", TenantMap{&c.limits}, c.tenant_limits));
  fields.push_back(scrape_field(c.scrape));
  return fields;
}

Status check_config(const ServerConfig& config) {
  if (config.http.empty() && config.grpc.empty() && config.otlp_http.empty()) {
    return Error{ErrorCode::kUsage, "no listen address is set",
                 "set server.http, server.grpc or server.otlp_http"};
  }
  if (config.data.empty()) {
    return Error{ErrorCode::kUsage, "no data directory is set", "set server.data or --data"};
  }
  if (config.tls.certificate.empty() != config.tls.key.empty()) {
    return Error{ErrorCode::kUsage, "TLS needs a certificate and its key",
                 "set tls.cert and tls.key"};
  }
  if (!config.tls.client_ca.empty() && !config.tls.enabled()) {
    return Error{ErrorCode::kUsage, "tls.client_ca needs TLS", "set tls.cert and tls.key"};
  }
  if (config.limits.max_body_bytes > config.request_memory ||
      config.limits.max_decoded_bytes > config.request_memory) {
    return Error{ErrorCode::kUsage, "server.request_memory is smaller than one request may be",
                 "raise server.request_memory, or lower limits.max_body_bytes and "
                 "limits.max_decoded_bytes"};
  }
  return {};
}

}  // namespace vesta::server
