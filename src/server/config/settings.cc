#include "server/config/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/suggest.h"
#include "base/units.h"
#include "server/listen_address.h"

namespace vesta::server {
namespace {

Error bad_word(std::string_view word, std::string_view wanted) {
  return {ErrorCode::kUsage, fmt::format("'{}' is not {}", word, wanted), {}};
}

Status set_text(std::string& to, std::string_view word) {
  to = word;
  return {};
}

Status set_address(std::string& to, std::string_view word) {
  if (!word.empty()) VESTA_TRY(parse_listen_address(word, "the address"));
  to = word;
  return {};
}

Status set_bytes(uint64_t& to, std::string_view word) {
  const auto bytes = parse_bytes(word);
  if (!bytes) return bad_word(word, "a size, such as 64MiB");
  to = *bytes;
  return {};
}

Status set_count(uint64_t& to, std::string_view word) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size() || count > (uint64_t{1} << 48)) {
    return bad_word(word, "a whole number");
  }
  to = count;
  return {};
}

Status set_duration(int64_t& to_ns, std::string_view word) {
  const auto ns = parse_duration_ns(word);
  if (!ns || *ns < 0) return bad_word(word, "a duration, such as 30s or 1h");
  to_ns = *ns;
  return {};
}

Status set_duration(std::chrono::milliseconds& to, std::string_view word) {
  int64_t ns = 0;
  VESTA_TRY(set_duration(ns, word));
  to = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(ns));
  if (to.count() == 0) return bad_word(word, "a duration of a millisecond or more");
  return {};
}

Status set_switch(bool& to, std::string_view word) {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (word == yes) return to = true, Status();
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (word == no) return to = false, Status();
  }
  return bad_word(word, "true or false");
}

Status set_tokens(TokenPolicy& to, std::string_view word) {
  if (word == "auto") {
    to = TokenPolicy::kAuto;
  } else if (word == "required") {
    to = TokenPolicy::kRequired;
  } else if (word == "off") {
    to = TokenPolicy::kOff;
  } else {
    return bad_word(word, "auto, required or off");
  }
  return {};
}

Status set_level(LogLevel& to, std::string_view word) {
  if (word == "debug") {
    to = LogLevel::kDebug;
  } else if (word == "info") {
    to = LogLevel::kInfo;
  } else if (word == "warning") {
    to = LogLevel::kWarning;
  } else if (word == "error") {
    to = LogLevel::kError;
  } else {
    return bad_word(word, "debug, info, warning or error");
  }
  return {};
}

Status set_format(LogFormat& to, std::string_view word) {
  if (word != "text" && word != "json") return bad_word(word, "text or json");
  to = word == "json" ? LogFormat::kJson : LogFormat::kText;
  return {};
}

Status set_default_retention(RetentionPolicy& to, std::string_view word) {
  VESTA_ASSIGN(const int64_t keep_ns, parse_retention(word));
  std::erase_if(to.rules, [](const RetentionRule& rule) { return rule.service.empty(); });
  to.rules.push_back({"", keep_ns});
  return {};
}

struct Setting {
  std::string_view key;
  Status (*set)(ServerConfig&, std::string_view);
};

// One line per key: the whole configuration at a glance.
constexpr auto kSettings = std::to_array<Setting>({
    {"server.http", [](auto& c, auto w) { return set_address(c.http, w); }},
    {"server.grpc", [](auto& c, auto w) { return set_address(c.grpc, w); }},
    {"server.otlp_http", [](auto& c, auto w) { return set_address(c.otlp_http, w); }},
    {"server.data", [](auto& c, auto w) { return set_text(c.data, w); }},
    {"server.backups", [](auto& c, auto w) { return set_text(c.backups, w); }},
    {"server.max_connections",
     [](auto& c, auto w) { return set_count(c.http_limits.max_connections, w); }},
    {"server.keep_timestamps", [](auto& c, auto w) { return set_switch(c.keep_timestamps, w); }},
    {"server.request_memory", [](auto& c, auto w) { return set_bytes(c.request_memory, w); }},
    {"server.header_timeout",
     [](auto& c, auto w) { return set_duration(c.http_limits.header_timeout, w); }},
    {"server.body_timeout",
     [](auto& c, auto w) { return set_duration(c.http_limits.body_timeout, w); }},
    {"server.write_timeout",
     [](auto& c, auto w) { return set_duration(c.http_limits.write_timeout, w); }},
    {"server.idle_timeout",
     [](auto& c, auto w) { return set_duration(c.http_limits.idle_timeout, w); }},
    {"tls.cert", [](auto& c, auto w) { return set_text(c.tls.certificate, w); }},
    {"tls.key", [](auto& c, auto w) { return set_text(c.tls.key, w); }},
    {"tls.client_ca", [](auto& c, auto w) { return set_text(c.tls.client_ca, w); }},
    {"auth.tokens", [](auto& c, auto w) { return set_tokens(c.tokens, w); }},
    {"auth.audit", [](auto& c, auto w) { return set_switch(c.audit, w); }},
    {"multi_tenant", [](auto& c, auto w) { return set_switch(c.multi_tenant, w); }},
    {"retention.default", [](auto& c, auto w) { return set_default_retention(c.retention, w); }},
    {"retention.max_bytes", [](auto& c, auto w) { return set_bytes(c.retention.max_bytes, w); }},
    {"query.memory", [](auto& c, auto w) { return set_bytes(c.query_memory, w); }},
    {"query.timeout", [](auto& c, auto w) { return set_duration(c.query_timeout_ns, w); }},
    {"query.max_nodes", [](auto& c, auto w) { return set_count(c.query_max_nodes, w); }},
    {"log.level", [](auto& c, auto w) { return set_level(c.log_level, w); }},
    {"log.format", [](auto& c, auto w) { return set_format(c.log_format, w); }},
});

struct Limit {
  std::string_view name;
  Status (*set)(TenantLimits&, std::string_view);
};

constexpr auto kLimits = std::to_array<Limit>({
    {"max_body_bytes", [](auto& l, auto w) { return set_bytes(l.max_body_bytes, w); }},
    {"max_decoded_bytes", [](auto& l, auto w) { return set_bytes(l.max_decoded_bytes, w); }},
    {"max_samples", [](auto& l, auto w) { return set_count(l.max_samples, w); }},
    {"max_stack_depth", [](auto& l, auto w) { return set_count(l.max_stack_depth, w); }},
    {"max_string_bytes", [](auto& l, auto w) { return set_bytes(l.max_string_bytes, w); }},
    {"max_labels_per_sample",
     [](auto& l, auto w) { return set_count(l.max_labels_per_sample, w); }},
    {"max_labels_per_series",
     [](auto& l, auto w) { return set_count(l.max_labels_per_series, w); }},
    {"max_label_name_bytes", [](auto& l, auto w) { return set_bytes(l.max_label_name_bytes, w); }},
    {"max_label_value_bytes",
     [](auto& l, auto w) { return set_bytes(l.max_label_value_bytes, w); }},
    {"max_series_per_profile",
     [](auto& l, auto w) { return set_count(l.max_series_per_profile, w); }},
    {"max_series", [](auto& l, auto w) { return set_count(l.max_series, w); }},
    {"bytes_per_second", [](auto& l, auto w) { return set_bytes(l.bytes_per_second, w); }},
    {"burst_bytes", [](auto& l, auto w) { return set_bytes(l.burst_bytes, w); }},
    {"max_age", [](auto& l, auto w) { return set_duration(l.max_age_ns, w); }},
    {"max_ahead", [](auto& l, auto w) { return set_duration(l.max_ahead_ns, w); }},
});

constexpr std::string_view kLimitPrefix = "limits.";

}  // namespace

std::vector<std::string> limit_keys() {
  std::vector<std::string> names;
  names.reserve(kLimits.size());
  for (const Limit& limit : kLimits) names.emplace_back(limit.name);
  return names;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  keys.reserve(kSettings.size() + kLimits.size());
  for (const Setting& setting : kSettings) keys.emplace_back(setting.key);
  for (const Limit& limit : kLimits) keys.push_back(fmt::format("limits.{}", limit.name));
  return keys;
}

std::string unknown_key_hint(std::string_view key, const std::vector<std::string>& choices) {
  const std::string near = nearest(key, choices);
  if (!near.empty()) return fmt::format("did you mean {}?", near);
  std::string all;
  for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  return fmt::format("known keys: {}", all);
}

Status apply_limit(TenantLimits& limits, std::string_view name, std::string_view word) {
  const auto found = std::ranges::find(kLimits, name, &Limit::name);
  if (found == kLimits.end()) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is no limit", name),
                 unknown_key_hint(name, limit_keys())};
  }
  return found->set(limits, word);
}

Status apply_setting(ServerConfig& config, std::string_view key, std::string_view word) {
  if (key.starts_with(kLimitPrefix)) {
    return apply_limit(config.limits, key.substr(kLimitPrefix.size()), word);
  }
  const auto found = std::ranges::find(kSettings, key, &Setting::key);
  if (found == kSettings.end()) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is no setting", key),
                 unknown_key_hint(key, setting_keys())};
  }
  return found->set(config, word);
}

std::string environment_name(std::string_view key) {
  std::string name = "VESTA_";
  for (const char c : key) {
    name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

Status apply_environment(ServerConfig& config, const GetEnvironment& get) {
  for (const std::string& key : setting_keys()) {
    const std::string name = environment_name(key);
    const char* word = get(name.c_str());
    if (word == nullptr) continue;
    if (Status status = apply_setting(config, key, word); !status.ok()) {
      return with_context(status.error(), name);
    }
  }
  return {};
}

Result<int64_t> parse_retention(std::string_view word) {
  int64_t keep_ns = 0;
  VESTA_TRY(set_duration(keep_ns, word));
  // The store forgets whole hours.
  constexpr int64_t kHour = int64_t{3600} * 1'000'000'000;
  if (keep_ns != 0 && keep_ns < kHour) return bad_word(word, "an hour or more, or 0 for ever");
  return keep_ns;
}

Status check_config(const ServerConfig& config) {
  if (config.http.empty() && config.grpc.empty() && config.otlp_http.empty()) {
    return Error{ErrorCode::kUsage, "the server listens nowhere",
                 "set server.http, server.grpc or server.otlp_http"};
  }
  if (config.data.empty()) {
    return Error{ErrorCode::kUsage, "there is no data directory", "set server.data or --data"};
  }
  if (config.tls.certificate.empty() != config.tls.key.empty()) {
    return Error{ErrorCode::kUsage, "TLS needs both a certificate and its key",
                 "set tls.cert and tls.key"};
  }
  if (!config.tls.client_ca.empty() && !config.tls.enabled()) {
    return Error{ErrorCode::kUsage, "tls.client_ca asks for certificates, but there is no TLS",
                 "set tls.cert and tls.key"};
  }
  if (config.limits.max_body_bytes > config.request_memory ||
      config.limits.max_decoded_bytes > config.request_memory) {
    return Error{ErrorCode::kUsage,
                 "a single request may be larger than server.request_memory for all of them",
                 "raise server.request_memory, or lower limits.max_body_bytes and "
                 "limits.max_decoded_bytes"};
  }
  return {};
}

}  // namespace vesta::server
