// Reports of samples rather than of functions: stacks with labels, labels with weights, lines of
// functions.
#include <fmt/format.h>

#include <array>
#include <map>
#include <memory>

#include "profile/label_filter.h"
#include "profile/label_frames.h"
#include "server/native/answer.h"

namespace vesta::server {
namespace {

Result<MergedProfile> sampled_profile(const ApiCall& call, const Question& question) {
  VESTA_ASSIGN(ProfileBatch batch, select_samples(call, question));
  const auto shared = std::make_shared<const ProfileBatch>(std::move(batch));
  const std::vector<TypeInfo> types = list_types(*shared);
  if (!types.empty()) return select_type(shared, types[0]);
  MergedProfile nothing;
  nothing.dictionary = std::shared_ptr<const Dictionary>(shared, &shared->dictionary);
  return nothing;
}

// Samples of different series are one where stack and labels are.
void add_up_alike(FrameProfile& frames) {
  std::map<std::pair<FrameStackId, LabelSetId>, size_t> places;
  std::vector<StackWeight> sums;
  for (const StackWeight& weight : frames.weights) {
    const auto [at, is_new] = places.try_emplace({weight.stack, weight.labels}, sums.size());
    if (is_new) {
      sums.push_back(weight);
    } else {
      sums[at->second].value = saturating_add(sums[at->second].value, weight.value);
    }
  }
  frames.weights = std::move(sums);
}

// `tag_show` and `tag_hide`.
Result<LabelNames> read_label_names(const ApiCall& call) {
  for (const std::string_view name : {"tag_show", "tag_hide"})
    VESTA_TRY(compile_regex(call.parameter(name), name));  // in the words of the API
  return LabelNames::compile(call.parameter("tag_show"), call.parameter("tag_hide"));
}

Result<HttpResponse> traces(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const LabelNames names, read_label_names(call));
  VESTA_ASSIGN(Asked asked, read_asked(call, 100, select_all));
  VESTA_ASSIGN(const MergedProfile profile, sampled_profile(call, asked.question));
  VESTA_ASSIGN(FrameProfile frames, resolve_frames(profile, {options.group, read_filters(call),
                                                             options.inlines, options.relative}));
  keep_labels(frames, names);
  add_up_alike(frames);
  const int64_t total = options.relative ? frames.total : asked.selection.total;
  return report_answer(
      call, asked, total, !frames.weights.empty(),
      [&](const ReportHeader& header) { return traces_report(header, frames, asked.report); },
      [&](JsonWriter& json) { write_traces(json, frames, total, asked.report); });
}

Result<HttpResponse> label_weights(const ApiCall& call) {
  VESTA_ASSIGN(const LabelNames names, read_label_names(call));
  VESTA_ASSIGN(Asked asked, read_asked(call, 100, select_all));
  VESTA_ASSIGN(const MergedProfile profile, sampled_profile(call, asked.question));
  std::vector<LabelKey> keys = summarize_labels(profile);
  std::erase_if(keys, [&](const LabelKey& key) { return !names.keeps(key.key); });
  const int64_t total = asked.selection.total;
  return report_answer(
      call, asked, total, !profile.samples.empty(),
      [&](const ReportHeader& header) { return labels_report(header, keys, asked.report); },
      [&](JsonWriter& json) { write_label_keys(json, keys, total, asked.report); });
}

Result<HttpResponse> lines(const ApiCall& call) {
  const std::string_view match = call.parameter("match");
  if (match.empty()) {
    return Error{ErrorCode::kUsage, "the parameter 'match' is missing",
                 "send a regular expression for the names of functions"};
  }
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(Asked asked, read_asked(call, 100, select));
  VESTA_ASSIGN(const std::vector<FunctionLines> functions,
               source_lines(asked.selection, options, match));
  if (functions.empty() && asked.selection.profiles != 0) {
    return Error{ErrorCode::kNotFound, fmt::format("no function matches '{}'", match),
                 "/api/v1/top lists the functions"};
  }
  const int64_t total = asked.selection.total;
  const std::vector<std::string> no_texts(functions.size());  // whoever asks has the source
  return report_answer(
      call, asked, total, !functions.empty(),
      [&](const ReportHeader& header) {
        return list_report(header, functions, no_texts, asked.report);
      },
      [&](JsonWriter& json) { write_functions(json, functions, no_texts, total, asked.report); });
}

}  // namespace

std::span<const ApiRoute> sample_routes() {
  static const std::array kRoutes = {
      get_route("/api/v1/traces",
                {kSelectionParameters, kLabelFrameParameters, kStackParameters, kReportParameters,
                 "rows tag_show tag_hide"},
                traces),
      get_route("/api/v1/labels/weights",
                {kSelectionParameters, "format unit min_share color rows tag_show tag_hide"},
                label_weights),
      get_route("/api/v1/lines",
                {kSelectionParameters, kStackParameters, "format unit min_share color rows match"},
                lines),
  };
  return kRoutes;
}

}  // namespace vesta::server
