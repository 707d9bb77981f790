#include "cli/source.h"

#include <fmt/format.h>

#include "base/time_words.h"
#include "base/units.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "formats/registry.h"
#include "net/http_get.h"
#include "profile/label_frames.h"
#include "profile/merge/merge.h"
#include "profile/merge/transform.h"
#include "reports/diff.h"

namespace vesta::cli {
namespace {

Result<std::string> fetch_url(std::string url, const ReadOptions& options,
                              const Arguments& arguments) {
  HttpGetOptions get;
  get.max_bytes = options.max_input_bytes;
  if (arguments.has("seconds")) {
    VESTA_ASSIGN(const int64_t seconds, arguments.integer("seconds", 0, 1, 86'400));
    url += fmt::format("{}seconds={}", url.find('?') == std::string::npos ? '?' : '&', seconds);
  }
  if (arguments.has("timeout")) {
    const auto timeout_ns = parse_duration_ns(arguments.get("timeout"));
    if (!timeout_ns || *timeout_ns <= 0) {
      return Error{ErrorCode::kUsage,
                   fmt::format("--timeout cannot be '{}'", arguments.get("timeout")),
                   "use a duration such as 30s or 2m"};
    }
    get.timeout =
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(*timeout_ns));
  }
  return http_get(url, get);
}

// The difference as one value each, in shares of the earlier profile, as pprof shows it.
void subtract_baseline(FrameProfile& frames) {
  for (StackWeight& weight : frames.weights) {
    weight.value = saturating_subtract(weight.value, weight.baseline);
    weight.baseline = 0;
  }
  frames.total = frames.baseline_total;
  frames.baseline_total = 0;
  frames.has_baseline = false;
}

Result<FrameProfile> load_difference(const Arguments& arguments, Console& console) {
  if (!label_frames_of(arguments).empty()) {
    return Error{ErrorCode::kUsage, "cannot combine --tag-root or --tag-leaf with --diff-base",
                 "remove one of them"};
  }
  VESTA_ASSIGN(const ProfileBatch before, load_source(arguments.get("diff-base"), arguments));
  VESTA_ASSIGN(const auto after, load_sources(arguments.positional, arguments, console));
  const DiffScale scale =
      arguments.has("normalize") ? DiffScale::kNormalized : DiffScale::kAbsolute;
  VESTA_ASSIGN(FrameProfile frames, compare_profiles(before, *after, arguments.get("type"), scale,
                                                     frame_options_of(arguments)));
  VESTA_TRY(check_unit(arguments, frames.unit));
  subtract_baseline(frames);
  return frames;
}

Result<InputFile> load_bytes(const std::string& source, const ReadOptions& options,
                             const Arguments& arguments, std::string_view range_prefix) {
  if (is_selector(source)) {
    VESTA_ASSIGN(std::string body,
                 fetch_selector(source, arguments, options.max_input_bytes, range_prefix));
    return InputFile::from_bytes(std::move(body));
  }
  if (is_url(source)) {
    VESTA_ASSIGN(std::string body, fetch_url(source, options, arguments));
    return InputFile::from_bytes(std::move(body));
  }
  if (is_unclosed_selector(source)) {
    return Error{ErrorCode::kUsage, fmt::format("the selector {} is not closed", source),
                 "close the brace, and quote it for the shell: 'cpu{service_name=\"checkout\"}'"};
  }
  return InputFile::open(source, options.max_input_bytes);
}

bool has_gauge(const ProfileBatch& batch) {
  for (const Profile& p : batch.profiles) {
    for (const SampleType& type : p.sample_types) {
      if (type.temporality == Temporality::kInstant) return true;
    }
  }
  return false;
}

}  // namespace

std::string source_title(const std::string& source) {
  if (source == "-") return "standard input";
  if (is_url(source)) return source.substr(0, source.find('?'));
  if (is_selector(source)) return source;
  return source.substr(source.rfind('/') + 1);
}

Result<InputFile> load_source_bytes(const std::string& source, const Arguments& arguments) {
  VESTA_ASSIGN(const ReadOptions options, read_options_of(arguments));
  auto file = load_bytes(source, options, arguments, {});
  if (!file.ok() && is_url(source)) return with_context(file.error(), source);
  return file;
}

Result<ProfileBatch> load_source(const std::string& source, const Arguments& arguments,
                                 std::string_view range_prefix) {
  VESTA_ASSIGN(const ReadOptions options, read_options_of(arguments));
  auto file = load_bytes(source, options, arguments, range_prefix);
  if (!file.ok()) return is_url(source) ? with_context(file.error(), source) : file.error();
  auto batch = read_profile(file->bytes(), arguments.get("input-format"), options);
  if (!batch.ok())
    return with_context(std::move(batch).error(), source == "-" ? "standard input" : source);
  return std::move(batch).value();
}

Result<std::shared_ptr<const ProfileBatch>> load_sources(const std::vector<std::string>& sources,
                                                         const Arguments& arguments,
                                                         Console& console) {
  std::vector<ProfileBatch> batches;
  for (const std::string& source : sources) {
    VESTA_ASSIGN(ProfileBatch batch, load_source(source, arguments));
    batches.push_back(std::move(batch));
  }
  ProfileBatch result;
  if (batches.size() == 1) {
    result = std::move(batches[0]);
  } else {
    if (has_gauge(batches[0]) && arguments.get("gauges") != "average") {
      console.note("note: gauges (heap in use, goroutines) are summed, as for several processes");
    }
    std::vector<const ProfileBatch*> all;
    all.reserve(batches.size());
    for (const ProfileBatch& batch : batches) all.push_back(&batch);
    result =
        merge(all, arguments.get("gauges") == "average" ? GaugeMerge::kAverage : GaugeMerge::kSum);
  }
  if (arguments.has("base")) {
    VESTA_ASSIGN(const ProfileBatch base, load_source(arguments.get("base"), arguments));
    result = delta(base, result);
  }
  return std::make_shared<const ProfileBatch>(std::move(result));
}

Result<MergedProfile> load_profile(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const auto batch, load_sources(arguments.positional, arguments, console));
  // The answer to a selector holds the type that the selector names, and no other.
  const bool typed = arguments.positional.size() == 1 && is_selector(arguments.positional[0]);
  VESTA_ASSIGN(const TypeInfo type,
               find_type(list_types(*batch), typed ? std::string() : arguments.get("type")));
  VESTA_TRY(check_unit(arguments, type.unit));
  MergedProfile profile = select_type(batch, type);
  if (profile.samples.empty()) {
    return Error{ErrorCode::kNoData, fmt::format("no samples of type {}", type.type),
                 typed ? kSeriesHint : "vesta types SOURCE lists the types and their totals"};
  }
  return profile;
}

Result<FrameProfile> load_frames(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const LabelNames labels,
               LabelNames::compile(arguments.get("tag-show"), arguments.get("tag-hide")));
  if (arguments.has("normalize") && !arguments.has("diff-base")) {
    return Error{ErrorCode::kUsage, "--normalize needs --diff-base",
                 "--diff-base names the profile to scale to"};
  }
  if (arguments.has("diff-base")) return load_difference(arguments, console);
  VESTA_ASSIGN(MergedProfile profile, load_profile(arguments, console));
  if (const LabelFrames wanted = label_frames_of(arguments); !wanted.empty())
    profile = with_label_frames(profile, wanted);
  VESTA_ASSIGN(FrameProfile frames, resolve_frames(profile, frame_options_of(arguments)));
  if (arguments.has("tag-show") || arguments.has("tag-hide")) keep_labels(frames, labels);
  return frames;
}

Result<int> print_report(const FrameProfile& frames, const std::string& report, Console& console) {
  VESTA_TRY(console.print(report));
  if (!frames.weights.empty()) return kOk;
  console.note("no sample passes the filters");
  return kNoData;
}

}  // namespace vesta::cli
