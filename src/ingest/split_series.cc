#include "ingest/split_series.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/hex.h"
#include "ingest/go_stacks.h"
#include "ingest/series_labels.h"

namespace vesta {
namespace {

enum class Role : uint8_t { kSeries, kSample, kService, kTraceId, kSpanId };

constexpr std::array<std::string_view, 14> kSampleLabels = {
    "thread",    "thread_name",  "thread.name", "thread_id", "thread.id",          "tid",
    "pid",       "process_id",   "cpu",         "cpu_id",    "cpu.logical_number", "span_name",
    "goroutine", kRepairedLabel,
};

// What a label set means for the rows that have it.
struct SetPlan {
  bool made = false;
  bool unsplit = false;  // labels that would have made a series stayed
  size_t part = 0;
  LabelSetId sample_labels;
  LinkId link;  // unless the row has one
};

class Splitter {
 public:
  Splitter(Profile& profile, const Labels& labels, std::span<const std::string_view> kept,
           const TenantLimits& limits, DictionaryBuilder& builder)
      : profile_(profile),
        labels_(labels),
        kept_(kept),
        limits_(limits),
        builder_(builder),
        dictionary_(builder.dictionary()),
        plans_(dictionary_.label_sets.size()) {
    part_labels_.push_back(labels);
    part_of_[""] = 0;
  }

  std::vector<SeriesPart> run(IngestCounters& counters) {
    Samples& samples = profile_.samples;
    const size_t rows = samples.size();
    std::vector<size_t> part_of_row(rows);
    bool has_links = !samples.links.empty();
    bool has_labels = false;
    std::vector<LinkId> links(rows);
    for (size_t row = 0; row < rows; ++row) {
      const SetPlan& plan = plan_of(samples.labels[row]);
      part_of_row[row] = plan.part;
      links[row] = samples.link(row) ? samples.link(row) : plan.link;
      has_links |= static_cast<bool>(links[row]);
      samples.labels[row] = plan.sample_labels;
      has_labels |= static_cast<bool>(plan.sample_labels);
    }
    if (has_links) samples.links = std::move(links);
    if (!has_labels) samples.labels.clear();
    counters.note(IngestNote::kUnsplitSamples, unsplit_);
    return parts(part_of_row);
  }

 private:
  std::vector<SeriesPart> parts(const std::vector<size_t>& part_of_row) {
    std::vector<size_t> rows_of(part_labels_.size());
    for (const size_t part : part_of_row) ++rows_of[part];
    std::vector<SeriesPart> out;
    const size_t only = part_of_row.empty() ? 0 : part_of_row.front();
    if (rows_of[only] == part_of_row.size()) {
      out.push_back({std::move(part_labels_[only]), std::move(profile_)});
      return out;
    }
    Samples samples = std::move(profile_.samples);
    profile_.samples = {};
    const size_t types = profile_.sample_types.size();
    std::vector<size_t> position(part_labels_.size());
    for (size_t part = 0; part < part_labels_.size(); ++part) {
      if (rows_of[part] == 0) continue;
      position[part] = out.size();
      out.push_back({std::move(part_labels_[part]), profile_});
      // What was lost was lost once.
      profile_.losses.clear();
      Samples& to = out.back().profile.samples;
      to.stacks.reserve(rows_of[part]);
      to.values.reserve(rows_of[part] * types);
    }
    for (size_t row = 0; row < part_of_row.size(); ++row) {
      Samples& to = out[position[part_of_row[row]]].profile.samples;
      to.stacks.push_back(samples.stacks[row]);
      if (!samples.labels.empty()) to.labels.push_back(samples.labels[row]);
      if (!samples.links.empty()) to.links.push_back(samples.links[row]);
      if (!samples.times_ns.empty()) to.times_ns.push_back(samples.times_ns[row]);
      const auto values = samples.values.begin() + static_cast<ptrdiff_t>(row * types);
      to.values.insert(to.values.end(), values, values + static_cast<ptrdiff_t>(types));
    }
    return out;
  }

  const SetPlan& plan_of(LabelSetId set) {
    SetPlan& plan = plans_[set.index()];
    if (!plan.made) plan = make_plan(set);
    unsplit_ += plan.unsplit ? 1 : 0;
    return plan;
  }

  SetPlan make_plan(LabelSetId set) {
    SetPlan plan;
    plan.made = true;
    Link link;
    std::vector<Label> rest;
    Labels series;
    std::vector<Label> undecided;  // went to the series, in case it must come back
    const auto items = dictionary_.label_sets[set];
    const std::vector<Label> labels(items.begin(), items.end());
    for (const Label& label : labels) {
      const std::string_view text = dictionary_.string(label.text);
      switch (role_of(label)) {
        case Role::kTraceId:
          if (!parse_hex(text, link.trace_id)) rest.push_back(label);
          break;
        case Role::kSpanId:
          if (!parse_hex(text, link.span_id)) rest.push_back(label);
          break;
        case Role::kSample:
          rest.push_back(label);
          break;
        case Role::kService:
          set_label(series, kServiceLabel, text, true);
          undecided.push_back(label);
          break;
        case Role::kSeries:
          if (text.empty()) break;
          if (text.size() > limits_.max_label_value_bytes) {
            rest.push_back(label);
          } else {
            set_label(series, dictionary_.string(label.key), text, false);
            undecided.push_back(label);
          }
          break;
      }
    }
    const auto part = part_for(series);
    if (part) {
      plan.part = *part;
    } else {
      rest.insert(rest.end(), undecided.begin(), undecided.end());
      plan.unsplit = true;
    }
    plan.sample_labels = rest.size() == labels.size() ? set : builder_.label_set(rest);
    if (link != Link()) plan.link = builder_.link(link);
    return plan;
  }

  // Empty when there may be no more series of this profile, or none with so many labels.
  std::optional<size_t> part_for(const Labels& series) {
    if (series.empty()) return 0;
    std::string key;
    for (const auto& [name, value] : series) {
      key.append(name).push_back('\0');
      key.append(value).push_back('\0');
    }
    if (const auto known = part_of_.find(key); known != part_of_.end()) return known->second;
    if (part_labels_.size() >= std::max<size_t>(1, limits_.max_series_per_profile)) return {};
    Labels labels = labels_;
    for (const auto& [name, value] : series) {
      // A service told of a sample is a better guess than the one of the whole.
      const bool guessed =
          name == kServiceLabel && label_value(labels_, kServiceLabel).starts_with(kUnknownService);
      set_label(labels, name, value, guessed);
    }
    if (labels.size() > limits_.max_labels_per_series + 1) return {};
    part_labels_.push_back(std::move(labels));
    part_of_[key] = part_labels_.size() - 1;
    return part_labels_.size() - 1;
  }

  Role role_of(const Label& label) {
    if (label.kind == LabelKind::kNumber) return Role::kSample;
    const auto [entry, is_new] = roles_.try_emplace(label.key.value, Role::kSample);
    if (is_new) entry->second = role_of_name(dictionary_.string(label.key));
    return entry->second;
  }

  Role role_of_name(std::string_view name) const {
    if (name == "trace_id") return Role::kTraceId;
    if (name == "span_id" || name == "profile_id") return Role::kSpanId;
    if (name == "service.name") return Role::kService;
    if (is_sample_label(name) || std::ranges::find(kept_, name) != kept_.end())
      return Role::kSample;
    // What is no name for a series' label can still be told of a sample.
    if (!is_label_name(name) || name.size() > limits_.max_label_name_bytes ||
        name.starts_with("__") || name.find("::") != std::string_view::npos)
      return Role::kSample;
    return Role::kSeries;
  }

  Profile& profile_;
  const Labels& labels_;
  std::span<const std::string_view> kept_;
  const TenantLimits& limits_;
  DictionaryBuilder& builder_;
  Dictionary& dictionary_;
  std::vector<SetPlan> plans_;  // by label set
  std::vector<Labels> part_labels_;
  std::map<std::string, size_t, std::less<>> part_of_;
  std::unordered_map<uint32_t, Role> roles_;
  uint64_t unsplit_ = 0;
};

}  // namespace

bool is_sample_label(std::string_view name) {
  return std::ranges::find(kSampleLabels, name) != kSampleLabels.end();
}

std::vector<SeriesPart> split_series(Profile profile, const Labels& labels,
                                     std::span<const std::string_view> kept,
                                     const TenantLimits& limits, DictionaryBuilder& builder,
                                     IngestCounters& counters) {
  if (profile.samples.labels.empty()) {
    std::vector<SeriesPart> out;
    out.push_back({labels, std::move(profile)});
    return out;
  }
  return Splitter(profile, labels, kept, limits, builder).run(counters);
}

}  // namespace vesta
