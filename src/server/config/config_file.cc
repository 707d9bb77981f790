#include "server/config/config_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <exception>
#include <functional>
#include <set>

#include "base/file.h"
#include "server/access/token.h"
#include "server/config/settings.h"

namespace vesta::server {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 20;
// yaml-cpp reads nested values by calling itself.
constexpr size_t kMaxNesting = 64;

class Reader {
 public:
  Reader(ServerConfig& config, const std::string& name) : config_(config), name_(name) {}

  Status read(const YAML::Node& root) {
    if (root.IsNull()) return {};  // an empty file
    return each_member(root, "", [this](const std::string& key, const YAML::Node& value) {
      return read_member(key, value);
    });
  }

 private:
  using Visit = std::function<Status(const std::string& key, const YAML::Node& value)>;

  Error at(const YAML::Node& node, const Error& error) const {
    const YAML::Mark mark = node.Mark();
    Error out = error;
    out.code = ErrorCode::kUsage;
    out.message = fmt::format("{}:{}:{}: {}", name_, mark.line + 1, mark.column + 1, error.message);
    return out;
  }
  Error at(const YAML::Node& node, std::string message, std::string hint = {}) const {
    return at(node, Error{ErrorCode::kUsage, std::move(message), std::move(hint)});
  }

  Status each_member(const YAML::Node& node, const std::string& path, const Visit& visit) const {
    if (!node.IsMap()) {
      return at(node, path.empty() ? "the file is no list of keys" : path + " has keys below it",
                "write KEY: VALUE on lines of their own");
    }
    std::set<std::string> seen;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return at(member.first, "a key must be a word");
      const std::string key = member.first.Scalar();
      if (!seen.insert(key).second) {
        return at(member.first, fmt::format("'{}' is there twice", key));
      }
      if (Status status =
              visit(path.empty() ? key : fmt::format("{}.{}", path, key), member.second);
          !status.ok()) {
        // The key is the place to look at when it is the key that is wrong.
        if (status.error().message.starts_with(name_ + ":")) return status;
        return at(member.first, status.error());
      }
    }
    return {};
  }

  Status read_member(const std::string& key, const YAML::Node& value) {
    if (key == "scrape_configs") {
      if (!value.IsNull() && !value.IsSequence()) return at(value, "scrape_configs is a list");
      if (value.size() > 0) config_.scrape_configs = std::make_shared<const YAML::Node>(value);
      config_.file = name_;
      return {};
    }
    if (key == "limits") {
      return each_member(value, key, [this](const std::string& k, const YAML::Node& v) {
        return k == "limits.tenants" ? read_tenant_limits(v) : read_scalar(k, v);
      });
    }
    if (key == "retention") return read_retention(value);
    for (const char* group : {"server", "tls", "auth", "query", "log"}) {
      if (key != group) continue;
      return each_member(value, key, [this](const std::string& k, const YAML::Node& v) {
        return read_scalar(k, v);
      });
    }
    if (key == "multi_tenant") return read_scalar(key, value);
    return Error{ErrorCode::kUsage, fmt::format("there is no key '{}'", key),
                 unknown_key_hint(key, {"server", "tls", "auth", "multi_tenant", "limits",
                                        "retention", "query", "scrape_configs", "log"})};
  }

  Result<std::string> word_of(const std::string& key, const YAML::Node& value) const {
    if (value.IsNull()) return std::string();
    if (!value.IsScalar()) return at(value, fmt::format("{} is one word, not a list", key));
    return value.Scalar();
  }

  Status read_scalar(const std::string& key, const YAML::Node& value) {
    const std::vector<std::string> known = setting_keys();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return Error{ErrorCode::kUsage, fmt::format("there is no key '{}'", key),
                   unknown_key_hint(key, known)};
    }
    VESTA_ASSIGN(const std::string word, word_of(key, value));
    if (Status status = apply_setting(config_, key, word); !status.ok()) {
      return at(value, with_context(status.error(), key));
    }
    return {};
  }

  Status read_tenant_limits(const YAML::Node& node) {
    // A tenant has what all have, unless it says otherwise: global limits may stand below.
    for (const auto& member : node) {
      const std::string tenant = member.first.IsScalar() ? member.first.Scalar() : "";
      if (Status status = check_tenant_id(tenant); !status.ok()) {
        return at(member.first, status.error());
      }
      pending_limits_.emplace_back(tenant, member.second);
    }
    return node.IsMap() ? Status() : Status(at(node, "limits.tenants has a key for each tenant"));
  }

  Status read_rules(const std::string& path, const YAML::Node& node, RetentionPolicy& policy) {
    return each_member(node, path, [&](const std::string& key, const YAML::Node& value) -> Status {
      VESTA_ASSIGN(const std::string word, word_of(key, value));
      const auto keep_ns = parse_retention(word);
      if (!keep_ns) return at(value, keep_ns.error());
      policy.rules.push_back({key.substr(path.size() + 1), *keep_ns});
      return {};
    });
  }

  Status read_retention(const YAML::Node& node) {
    return each_member(node, "retention", [this](const std::string& key, const YAML::Node& value) {
      return key == "retention.services" ? read_rules(key, value, config_.retention)
                                         : read_scalar_or_services(key, value);
    });
  }
  Status read_scalar_or_services(const std::string& key, const YAML::Node& value) {
    if (key != "retention.default" && key != "retention.max_bytes") {
      return Error{ErrorCode::kUsage, fmt::format("there is no key '{}'", key),
                   unknown_key_hint(
                       key, {"retention.default", "retention.services", "retention.max_bytes"})};
    }
    return read_scalar(key, value);
  }

 public:
  // After everything else: tenants start from the limits of all.
  Status finish() {
    for (const auto& [tenant, node] : pending_limits_) {
      TenantLimits limits = config_.limits;
      const std::string path = "limits.tenants." + tenant;
      VESTA_TRY(
          each_member(node, path, [&](const std::string& key, const YAML::Node& value) -> Status {
            VESTA_ASSIGN(const std::string word, word_of(key, value));
            const std::string limit = key.substr(path.size() + 1);
            if (Status status = apply_limit(limits, limit, word); !status.ok()) {
              return at(value, with_context(status.error(), key));
            }
            return {};
          }));
      config_.tenant_limits[tenant] = limits;
    }
    return {};
  }

 private:
  ServerConfig& config_;
  const std::string& name_;
  std::vector<std::pair<std::string, YAML::Node>> pending_limits_;
};

// Indentation and brackets nest; what looks deeper than this is no configuration.
bool nests_too_deep(std::string_view text) {
  size_t brackets = 0;
  size_t line_depth = 0;
  bool at_start = true;
  for (const char c : text) {
    if (c == '\n') {
      at_start = true;
      line_depth = 0;
      continue;
    }
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (at_start && (c == '-' || c == '?' || c == ':')) ++line_depth;
    if (at_start && c != ' ' && c != '-' && c != '?' && c != ':') at_start = false;
    if (brackets > kMaxNesting || line_depth > kMaxNesting) return true;
  }
  return false;
}

}  // namespace

Status apply_config_text(ServerConfig& config, std::string_view text, const std::string& name) {
  if (nests_too_deep(text)) {
    return Error{ErrorCode::kUsage, fmt::format("{}: values nest too deep", name), {}};
  }
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    Reader reader(config, name);
    VESTA_TRY(reader.read(root));
    return reader.finish();
  } catch (const YAML::Exception& e) {
    return Error{
        ErrorCode::kUsage,
        fmt::format("{}:{}:{}: not YAML: {}", name, e.mark.line + 1, e.mark.column + 1, e.msg),
        {}};
  } catch (const std::exception& e) {
    return Error{ErrorCode::kUsage, fmt::format("{}: not YAML: {}", name, e.what()), {}};
  }
}

Status apply_config_file(ServerConfig& config, const std::string& path) {
  VESTA_ASSIGN(const InputFile file, InputFile::open(path, kMaxFileBytes));
  return apply_config_text(config, file.bytes(), path);
}

}  // namespace vesta::server
