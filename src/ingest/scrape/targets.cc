#include "ingest/scrape/targets.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/file.h"
#include "ingest/series_labels.h"

namespace vesta {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 20;

std::vector<std::string> files_matching(const std::string& pattern) {
  glob_t found{};
  const std::unique_ptr<glob_t, decltype(&globfree)> guard(&found, &globfree);
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_NOCHECK, nullptr, &found) != 0) return files;
  for (size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  return files;
}

// "host:port", with brackets around an IPv6 address, and nothing that would make another URL of it.
bool is_address(std::string_view text) {
  return !text.empty() && text.size() < 512 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
  });
}

}  // namespace

bool make_target(const ScrapeJob& job, const std::string& address, const Labels& labels,
                 ScrapeTarget& target) {
  Labels all = labels;
  set_label(all, "__address__", address, true);
  set_label(all, "__scheme__", job.scheme, false);
  set_label(all, "job", job.name, false);
  if (!relabel(job.relabel, all)) return false;
  const std::string final_address(label_value(all, "__address__"));
  const std::string scheme(label_value(all, "__scheme__"));
  if (!is_address(final_address) || (scheme != "http" && scheme != "https")) return false;
  set_label(all, "instance", final_address, false);
  target.job = job.name;
  target.url = fmt::format("{}://{}{}", scheme, final_address, job.path_prefix);
  target.labels.clear();
  for (auto& [name, value] : all) {
    if (!name.starts_with("__") && !value.empty()) target.labels.emplace_back(name, value);
  }
  return true;
}

std::vector<ScrapeTarget> find_targets(const ScrapeJob& job, std::vector<Error>& problems) {
  std::vector<ScrapeTarget> targets;
  std::set<std::pair<std::string, Labels>> seen;
  const auto add = [&](const TargetGroup& group, const Labels& labels) {
    for (const std::string& address : group.targets) {
      ScrapeTarget target;
      if (make_target(job, address, labels, target) &&
          seen.emplace(target.url, target.labels).second)
        targets.push_back(std::move(target));
    }
  };
  for (const TargetGroup& group : job.static_targets) add(group, group.labels);
  for (const FileDiscovery& discovery : job.files) {
    for (const std::string& pattern : discovery.files) {
      for (const std::string& path : files_matching(pattern)) {
        auto file = InputFile::open(path, kMaxFileBytes);
        if (!file) {
          problems.push_back(with_context(std::move(file).error(), path));
          continue;
        }
        auto groups = parse_target_file(std::string(file->bytes()), path);
        if (!groups) {
          problems.push_back(std::move(groups).error());
          continue;
        }
        for (const TargetGroup& group : *groups) {
          Labels labels = group.labels;
          set_label(labels, "__meta_filepath", path, true);
          add(group, labels);
        }
      }
    }
  }
  return targets;
}

}  // namespace vesta
