#include "cli/source.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "formats/registry.h"
#include "net/http_get.h"
#include "profile/merge.h"
#include "profile/transform.h"

namespace vesta::cli {
namespace {

Result<InputFile> load_bytes(const std::string& source, const ReadOptions& options,
                             const Arguments& arguments, std::string_view range_prefix) {
  if (is_selector(source)) {
    VESTA_ASSIGN(std::string body,
                 fetch_selector(source, arguments, options.max_input_bytes, range_prefix));
    return InputFile::from_bytes(std::move(body));
  }
  if (is_url(source)) {
    VESTA_ASSIGN(std::string body, http_get(source, options.max_input_bytes));
    return InputFile::from_bytes(std::move(body));
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
      console.note("note: gauges (heap in use, goroutines) are added up, as of several processes");
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
  MergedProfile profile = select_type(batch, type);
  if (profile.samples.empty()) {
    return Error{ErrorCode::kNoData, fmt::format("no samples of type {}", type.type),
                 "vesta types SOURCE lists the types and their totals"};
  }
  return profile;
}

Result<int> print_report(const FrameProfile& frames, const std::string& report, Console& console) {
  VESTA_TRY(console.print(report));
  if (!frames.weights.empty()) return kOk;
  console.note("no sample passes the filters");
  return kNoData;
}

}  // namespace vesta::cli
