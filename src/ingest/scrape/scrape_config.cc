#include "ingest/scrape/scrape_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/suggest.h"
#include "base/units.h"
#include "ingest/series_labels.h"

namespace vesta {
namespace {

constexpr size_t kMaxTextBytes = size_t{4} << 20;
// yaml-cpp reads nested values by calling itself.
constexpr size_t kMaxNesting = 64;
constexpr size_t kMaxTargets = 100'000;

// Brackets that open without closing, and indentation, are what makes a text deep.
bool is_too_deep(std::string_view text) {
  size_t open = 0;
  size_t deepest = 0;
  size_t dashes = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++open);
    if ((c == ']' || c == '}') && open > 0) --open;
    dashes = c == '-' || c == ' ' || c == '?' || c == ':' ? dashes + 1 : 0;
    if (dashes > 20 * kMaxNesting) return true;
  }
  return deepest > kMaxNesting;
}

class Reader {
 public:
  explicit Reader(std::string file_name) : file_name_(std::move(file_name)) {}

  Result<ScrapeConfig> read_jobs(const YAML::Node& list) {
    ScrapeConfig config;
    std::set<std::string> names;
    const auto read_one = [&](const YAML::Node& item) -> Status {
      ScrapeJob job;
      VESTA_TRY(read_job(item, job));
      if (!names.insert(job.name).second)
        return at(item, fmt::format("two jobs are called '{}'", job.name));
      config.jobs.push_back(std::move(job));
      return {};
    };
    VESTA_TRY(each_item(list, "scrape_configs", read_one));
    return config;
  }

  Status read_groups(const YAML::Node& list, std::vector<TargetGroup>& groups) {
    return each_item(list, "targets", [&](const YAML::Node& item) -> Status {
      TargetGroup& group = groups.emplace_back();
      return each_member(item, {"targets", "labels"},
                         [&](const std::string& key, const YAML::Node& value) {
                           return key == "targets" ? read_words(value, group.targets)
                                                   : read_labels(value, group.labels);
                         });
    });
  }

  Error at(const YAML::Node& node, std::string message, std::string hint = {}) const {
    const YAML::Mark mark = node.Mark();
    return {ErrorCode::kUsage,
            fmt::format("{}:{}:{}: {}", file_name_, mark.line + 1, mark.column + 1, message),
            std::move(hint)};
  }
  Error at(const YAML::Node& node, const Error& error) const {
    return at(node, error.message, error.hint);
  }

 private:
  using Keys = std::vector<std::string>;
  using Visit = std::function<Status(const std::string& key, const YAML::Node& value)>;

  Status each_member(const YAML::Node& node, const Keys& keys, const Visit& visit) const {
    if (!node.IsMap()) return at(node, "here belong keys and values", "write KEY: VALUE");
    std::set<std::string> seen;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return at(member.first, "a key must be a word");
      const std::string key = member.first.Scalar();
      if (!keys.empty() && std::ranges::find(keys, key) == keys.end()) {
        const std::string near = nearest(key, keys);
        return at(member.first, fmt::format("there is no key '{}'", key),
                  near.empty() ? fmt::format("known are {}", fmt::join(keys, ", "))
                               : fmt::format("did you mean {}?", near));
      }
      if (!seen.insert(key).second)
        return at(member.first, fmt::format("'{}' is there twice", key));
      VESTA_TRY(visit(key, member.second));
    }
    return {};
  }

  Status each_item(const YAML::Node& node, std::string_view what,
                   const std::function<Status(const YAML::Node&)>& visit) const {
    if (node.IsNull()) return {};
    if (!node.IsSequence()) return at(node, fmt::format("{} is a list", what), "write - ITEM");
    for (const auto& item : node) VESTA_TRY(visit(item));
    return {};
  }

  Status read_word(const YAML::Node& node, std::string& word) const {
    if (!node.IsScalar()) return at(node, "here belongs one word");
    word = node.Scalar();
    return {};
  }

  Status read_words(const YAML::Node& node, std::vector<std::string>& words) const {
    return each_item(node, "this",
                     [&](const YAML::Node& item) { return read_word(item, words.emplace_back()); });
  }

  Status read_labels(const YAML::Node& node, Labels& labels) const {
    return each_member(node, {}, [&](const std::string& key, const YAML::Node& value) -> Status {
      std::string text;
      VESTA_TRY(read_word(value, text));
      if (!is_label_name(key)) return at(value, "not a name for a label");
      set_label(labels, key, text, true);
      return {};
    });
  }

  Status read_flag(const YAML::Node& node, bool& flag) const {
    std::string word;
    VESTA_TRY(read_word(node, word));
    if (word != "true" && word != "false") return at(node, "here belongs true or false");
    flag = word == "true";
    return {};
  }

  Status read_span(const YAML::Node& node, int64_t& span_ns) const {
    std::string word;
    VESTA_TRY(read_word(node, word));
    const auto span = parse_duration_ns(word);
    constexpr int64_t kSecond = 1'000'000'000;
    if (!span || *span < kSecond || *span > 86'400 * kSecond)
      return at(node, fmt::format("'{}' is no time between 1s and 24h", word),
                "as in 15s or 1m30s");
    span_ns = *span;
    return {};
  }

  Status read_profiles(const YAML::Node& node, std::vector<ScrapeProfile>& profiles) const {
    return each_member(node, {}, [&](const std::string& name, const YAML::Node& value) -> Status {
      auto profile = std::ranges::find(profiles, name, &ScrapeProfile::name);
      if (profile == profiles.end()) {
        profiles.push_back({name, "/debug/pprof/" + name, true, false, false});
        profile = profiles.end() - 1;
      }
      return each_member(value, {"enabled", "path", "delta", "seconds"},
                         [&](const std::string& key, const YAML::Node& item) {
                           if (key == "enabled") return read_flag(item, profile->enabled);
                           if (key == "delta") return read_flag(item, profile->delta);
                           if (key == "seconds") return read_flag(item, profile->seconds);
                           return read_word(item, profile->path);
                         });
    });
  }

  Status read_files(const YAML::Node& node, std::vector<FileDiscovery>& files) const {
    return each_item(node, "file_sd_configs", [&](const YAML::Node& item) -> Status {
      FileDiscovery& found = files.emplace_back();
      return each_member(item, {"files", "refresh_interval"},
                         [&](const std::string& key, const YAML::Node& value) {
                           return key == "files" ? read_words(value, found.files)
                                                 : read_span(value, found.refresh_ns);
                         });
    });
  }

  Status read_rule(const YAML::Node& node, std::vector<RelabelRule>& rules) const {
    RelabelSpec spec;
    const Keys keys = {"source_labels", "separator", "regex", "target_label",
                       "replacement",   "modulus",   "action"};
    const auto read_one = [&](const std::string& key, const YAML::Node& value) -> Status {
      if (key == "source_labels") return read_words(value, spec.source_labels);
      std::string word;
      VESTA_TRY(read_word(value, word));
      if (key == "separator") spec.separator = word;
      if (key == "regex") spec.regex = word;
      if (key == "target_label") spec.target_label = word;
      if (key == "replacement") spec.replacement = word;
      if (key == "modulus") {
        const bool is_number =
            !word.empty() && word.size() < 19 &&
            std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
        if (!is_number) return at(value, "modulus is a whole number");
        spec.modulus = std::stoull(word);
      }
      if (key == "action") {
        const auto action = parse_relabel_action(word);
        if (!action) return at(value, action.error());
        spec.action = *action;
      }
      return {};
    };
    VESTA_TRY(each_member(node, keys, read_one));
    auto rule = RelabelRule::make(std::move(spec));
    if (!rule) return at(node, rule.error());
    rules.push_back(std::move(rule).value());
    return {};
  }

  Status read_job(const YAML::Node& node, ScrapeJob& job) {
    job.profiles = default_scrape_profiles();
    const std::map<std::string, std::function<Status(const YAML::Node&)>> members = {
        {"job_name", [&](const YAML::Node& v) { return read_word(v, job.name); }},
        {"tenant", [&](const YAML::Node& v) { return read_word(v, job.tenant); }},
        {"scheme", [&](const YAML::Node& v) { return read_word(v, job.scheme); }},
        {"path_prefix", [&](const YAML::Node& v) { return read_word(v, job.path_prefix); }},
        {"bearer_token", [&](const YAML::Node& v) { return read_word(v, job.bearer_token); }},
        {"scrape_interval", [&](const YAML::Node& v) { return read_span(v, job.interval_ns); }},
        {"scrape_timeout", [&](const YAML::Node& v) { return read_span(v, job.timeout_ns); }},
        {"profiles", [&](const YAML::Node& v) { return read_profiles(v, job.profiles); }},
        {"static_configs", [&](const YAML::Node& v) { return read_groups(v, job.static_targets); }},
        {"file_sd_configs", [&](const YAML::Node& v) { return read_files(v, job.files); }},
        {"relabel_configs",
         [&](const YAML::Node& v) {
           return each_item(v, "relabel_configs",
                            [&](const YAML::Node& item) { return read_rule(item, job.relabel); });
         }},
    };
    Keys keys;
    for (const auto& [key, unused] : members) keys.push_back(key);
    VESTA_TRY(each_member(node, keys, [&](const std::string& key, const YAML::Node& value) {
      return members.at(key)(value);
    }));
    if (job.name.empty()) return at(node, "a job without job_name");
    if (job.scheme != "http" && job.scheme != "https")
      return at(node, fmt::format("scheme '{}' is neither http nor https", job.scheme));
    if (job.static_targets.empty() && job.files.empty())
      return at(node, "a job without static_configs and file_sd_configs");
    return {};
  }

  std::string file_name_;
};

// What yaml-cpp throws ends here.
template <class T, class Read>
Result<T> guarded(const std::string& file_name, Read&& read) {
  try {
    return read();
  } catch (const YAML::Exception& problem) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{}:{}:{}: {}", file_name, problem.mark.line + 1,
                             problem.mark.column + 1, problem.msg),
                 "not valid YAML"};
  }
}

// Parses and hands the root to `read`.
template <class T, class Read>
Result<T> with_yaml(const std::string& text, const std::string& file_name, Read&& read) {
  if (text.size() > kMaxTextBytes || is_too_deep(text)) {
    return Error{ErrorCode::kLimit,
                 fmt::format("{}: too large or too deep to be a configuration", file_name), ""};
  }
  return guarded<T>(file_name, [&] { return read(YAML::Load(text)); });
}

}  // namespace

std::vector<ScrapeProfile> default_scrape_profiles() {
  return {{"process_cpu", "/debug/pprof/profile", true, false, true},
          {"memory", "/debug/pprof/allocs", true, true, false},
          {"goroutine", "/debug/pprof/goroutine", true, false, false},
          {"mutex", "/debug/pprof/mutex", true, true, false},
          {"block", "/debug/pprof/block", true, true, false}};
}

Result<ScrapeConfig> read_scrape_config(const YAML::Node& list, const std::string& file_name) {
  return guarded<ScrapeConfig>(file_name, [&] { return Reader(file_name).read_jobs(list); });
}

Result<ScrapeConfig> parse_scrape_config(const std::string& yaml, const std::string& file_name) {
  return with_yaml<ScrapeConfig>(
      yaml, file_name, [&](const YAML::Node& root) -> Result<ScrapeConfig> {
        if (!root.IsMap() || !root["scrape_configs"])
          return Error{ErrorCode::kUsage, fmt::format("{}: no scrape_configs", file_name), ""};
        return read_scrape_config(root["scrape_configs"], file_name);
      });
}

Result<std::vector<TargetGroup>> parse_target_file(const std::string& text,
                                                   const std::string& file_name) {
  using Groups = std::vector<TargetGroup>;
  return with_yaml<Groups>(text, file_name, [&](const YAML::Node& root) -> Result<Groups> {
    Groups groups;
    VESTA_TRY(Reader(file_name).read_groups(root, groups));
    size_t targets = 0;
    for (const TargetGroup& group : groups) targets += group.targets.size();
    if (targets > kMaxTargets)
      return Error{ErrorCode::kLimit,
                   fmt::format("{}: more than {} targets", file_name, kMaxTargets), ""};
    return groups;
  });
}

}  // namespace vesta
