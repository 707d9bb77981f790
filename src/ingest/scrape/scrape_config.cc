#include "ingest/scrape/scrape_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/time.h"
#include "config/relabel_config.h"
#include "config/values.h"
#include "config/yaml.h"

namespace vesta {
namespace {

using config::Field;
using config::field;
using config::Fields;
using config::Node;
using config::Reader;

constexpr size_t kMaxTargets = 100'000;
constexpr config::Duration kSpan = {kSecond, 86'400 * kSecond};

// Labels are sorted, which a map of text need not be.
struct LabelMap {
  config::MapOf<config::Text> map = {{}, config::check_label_name};

  std::string name() const { return map.name(); }
  std::vector<std::string> below() const { return map.below(); }
  void read(Reader& reader, const Node& node, const std::string& path, Labels& to) const {
    map.read(reader, node, path, to);
    std::ranges::sort(to);
  }
  Node show(const Labels& labels) const { return map.show(labels); }
};

Fields fields_of(TargetGroup& group) {
  return {field("targets", config::ListOf<config::Text>(), group.targets),
          field("labels", LabelMap(), group.labels)};
}

Fields fields_of(FileDiscovery& files) {
  return {field("files", config::ListOf<config::Text>(), files.files),
          field("refresh_interval", kSpan, files.refresh_ns)};
}

Fields fields_of(ScrapeProfile& profile) {
  return {field("enabled", config::Switch(), profile.enabled),
          field("path", config::Text(), profile.path),
          field("delta", config::Switch(), profile.delta),
          field("seconds", config::Switch(), profile.seconds)};
}

// By name, over those that there are without saying so.
struct Profiles {
  std::string name() const { return "map of keys"; }
  std::vector<std::string> below() const {
    return config::MapOf<config::Group<ScrapeProfile>>{{fields_of}}.below();
  }
  void read(Reader& reader, const Node& node, const std::string& path,
            std::vector<ScrapeProfile>& to) const {
    if (!node.is_map() && !node.is_nothing()) {
      return reader.fail(node.at, path, "must be a map of profile names");
    }
    for (const config::Member& member : node.members) {
      auto profile = std::ranges::find(to, member.key, &ScrapeProfile::name);
      if (profile == to.end()) {
        to.push_back({member.key, "/debug/pprof/" + member.key, true, false, false});
        profile = to.end() - 1;
      }
      read_fields(reader, member.value, fmt::format("{}.{}", path, config::shown(member.key)),
                  fields_of(*profile));
    }
  }
  Node show(const std::vector<ScrapeProfile>& profiles) const {
    Node node;
    node.kind = Node::Kind::kMap;
    for (ScrapeProfile profile : profiles) {
      node.below(profile.name) = show_fields(fields_of(profile));
    }
    return node;
  }
};

Fields fields_of(ScrapeJob& job) {
  if (job.profiles.empty()) job.profiles = default_scrape_profiles();
  return {
      field("job_name", config::Text(), job.name),
      field("tenant", config::Text(), job.tenant),
      field("scheme", config::Choice<std::string>{{"http", "http"}, {"https", "https"}},
            job.scheme),
      field("path_prefix", config::Text(), job.path_prefix),
      field("bearer_token", config::Secret(), job.bearer_token),
      field("scrape_interval", kSpan, job.interval_ns),
      field("scrape_timeout", kSpan, job.timeout_ns),
      field("profiles", Profiles(), job.profiles),
      field("static_configs", config::groups<TargetGroup>(fields_of), job.static_targets),
      field("file_sd_configs", config::groups<FileDiscovery>(fields_of), job.files),
      field("relabel_configs", config::RelabelRules(), job.relabel),
  };
}

void check_job(Reader& reader, const Node& node, const std::string& path, ScrapeJob& job) {
  if (job.name.empty()) return reader.fail(node.at, path, "job_name is missing");
  if (job.static_targets.empty() && job.files.empty()) {
    reader.fail(node.at, path, "the job has neither static_configs nor file_sd_configs");
  }
}

struct Jobs {
  config::GroupList<ScrapeJob> list = config::groups<ScrapeJob>(fields_of, check_job);

  std::string name() const { return list.name(); }
  std::vector<std::string> below() const { return list.below(); }
  void read(Reader& reader, const Node& node, const std::string& path,
            std::vector<ScrapeJob>& to) const {
    list.read(reader, node, path, to);
    std::set<std::string> names;
    for (size_t i = 0; i < to.size(); ++i) {
      if (!to[i].name.empty() && !names.insert(to[i].name).second) {
        reader.fail(node.items[i].at, path,
                    fmt::format("two jobs have the name '{}'", config::shown(to[i].name)));
      }
    }
  }
  Node show(const std::vector<ScrapeJob>& jobs) const { return list.show(jobs); }
};

}  // namespace

std::vector<ScrapeProfile> default_scrape_profiles() {
  return {{"process_cpu", "/debug/pprof/profile", true, false, true},
          {"memory", "/debug/pprof/allocs", true, true, false},
          {"goroutine", "/debug/pprof/goroutine", true, false, false},
          {"mutex", "/debug/pprof/mutex", true, true, false},
          {"block", "/debug/pprof/block", true, true, false}};
}

Field scrape_field(ScrapeConfig& config) {
  return field("scrape_configs", Jobs(), config.jobs);
}

Result<std::vector<TargetGroup>> parse_target_file(const std::string& text,
                                                   const std::string& file_name) {
  VESTA_ASSIGN(const config::Document document, config::parse_yaml(text, file_name));
  config::Findings findings;
  Reader reader(config::Source::kFile, file_name, findings);
  std::vector<TargetGroup> target_groups;
  config::groups<TargetGroup>(fields_of).read(reader, document.root, "targets", target_groups);
  VESTA_TRY(findings.status());
  size_t targets = 0;
  for (const TargetGroup& group : target_groups) targets += group.targets.size();
  if (targets > kMaxTargets) {
    return Error{ErrorCode::kLimit, fmt::format("{}: more than {} targets", file_name, kMaxTargets),
                 ""};
  }
  return target_groups;
}

}  // namespace vesta
