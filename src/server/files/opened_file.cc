#include "server/files/opened_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "ingest/ingest.h"
#include "ingest/read_file.h"
#include "profile/merged_profile.h"
#include "query/type_words.h"
#include "store/memory/memory_engine.h"

namespace vesta::server {
namespace {

// What the engine in memory takes for a series with a profile, for a sample, and for a label of
// one.
constexpr uint64_t kProfileBytes = 4096;
constexpr uint64_t kSampleBytes = 128;
constexpr uint64_t kLabelBytes = 144;
// More than any program counts; looking through them takes time that grows with their square.
constexpr size_t kMaxTypes = 256;

// Profiles of any age are welcome, and nobody is kept from looking at a file by what may be stored.
TenantLimits without_bounds_of_stores(TenantLimits limits) {
  limits.max_age_ns = 0;
  limits.max_ahead_ns = INT64_MAX;
  limits.max_series = 0;
  limits.bytes_per_second = 0;
  return limits;
}

ReadOptions read_options(const Ingest& ingest, std::string_view tenant, bool keep_times) {
  ReadOptions options = ingest.read_options(tenant);
  options.allow_negative = false;  // kept, but the reports say so
  options.keep_timestamps = keep_times;
  return options;
}

uint64_t stored_bytes_of(const ProfileBatch& batch) {
  uint64_t bytes = 0;
  for (const Profile& profile : batch.profiles) {
    uint64_t of_type = kProfileBytes;
    for (size_t row = 0; row < profile.samples.size(); ++row) {
      const auto labels = batch.dictionary.label_sets[profile.samples.label_set(row)];
      of_type += kSampleBytes + labels.size() * kLabelBytes;
    }
    bytes += of_type * profile.sample_types.size();
  }
  return bytes;
}

// What the file itself would show first, as long as that has values: "cpu", "nanoseconds".
std::pair<std::string, std::string> default_type_of(const ProfileBatch& batch) {
  const Result<TypeInfo> type = find_type(list_types(batch), "");
  if (!type) return {};
  return {type->type, type->unit};
}

// Looks through what was stored of one type.
class TypeSurvey {
 public:
  TypeSurvey(OpenedFile& file, std::string_view tenant) : file_(file), tenant_(tenant) {}

  Status look_at(const ProfileType& type) {
    SamplesRequest request;
    request.select.type = type;
    request.select.range = kAllTime;
    request.select.budget.bytes = UINT64_MAX;
    request.keep_times = true;
    FileType found;
    found.type = type;
    VESTA_ASSIGN(const auto selections, file_.engine->select(tenant_, request.select));
    if (!selections.empty()) found.total = selections.front().total;
    VESTA_ASSIGN(const ProfileBatch batch, file_.engine->samples(tenant_, request));
    for (const Profile& profile : batch.profiles) {
      found.samples += profile.samples.size();
      for (size_t row = 0; row < profile.samples.size(); ++row) {
        if (const int64_t time_ns = profile.samples.time_ns(row); time_ns != 0) include(time_ns);
      }
    }
    for (size_t i = 1; i < batch.dictionary.label_sets.size(); ++i) {
      for (const Label& label : batch.dictionary.label_sets[LabelSetId(i)])
        labels_.emplace(batch.dictionary.string(label.key));
    }
    PointsRequest points;
    points.type = type;
    points.range = kAllTime;
    points.budget.bytes = UINT64_MAX;
    VESTA_ASSIGN(const auto profiles, file_.engine->points(tenant_, points));
    for (const ProfilePoint& point : profiles) {
      include(point.time_ns);
      // The end itself is outside, but a profile is there even when it took no time.
      if (point.duration_ns > 0) include(saturating_add(point.time_ns, point.duration_ns - 1));
    }
    file_.types.push_back(std::move(found));
    return {};
  }

  void finish() {
    file_.range = {first_ns_, saturating_add(last_ns_, 1)};
    file_.labels.assign(labels_.begin(), labels_.end());
  }

 private:
  void include(int64_t time_ns) {
    first_ns_ = std::min(first_ns_, time_ns);
    last_ns_ = std::max(last_ns_, time_ns);
  }

  OpenedFile& file_;
  std::string_view tenant_;
  int64_t first_ns_ = INT64_MAX;
  int64_t last_ns_ = INT64_MIN;
  std::set<std::string> labels_;
};

Status survey(OpenedFile& file, std::string_view tenant,
              const std::pair<std::string, std::string>& default_type) {
  VESTA_ASSIGN(const auto types, stored_types(*file.engine, tenant, {}, kAllTime));
  if (types.size() > kMaxTypes) {
    return Error{
        ErrorCode::kLimit,
        fmt::format("the file holds {} profile types, {} are allowed", types.size(), kMaxTypes),
        "take it apart with vesta convert"};
  }
  TypeSurvey survey(file, tenant);
  for (const ProfileType& type : types) VESTA_TRY(survey.look_at(type));
  survey.finish();
  for (FileType& type : file.types) type.word = selector_word(types, type.type);
  std::stable_partition(file.types.begin(), file.types.end(), [&](const FileType& type) {
    return type.type.sample_type == default_type.first &&
           type.type.sample_unit == default_type.second;
  });
  return {};
}

Status check_memory(const OpenedFile& file, const FileSource& source) {
  if (file.bytes <= source.max_memory) return {};
  return Error{ErrorCode::kLimit,
               fmt::format("the file would take about {} bytes of memory, {} are allowed",
                           file.bytes, source.max_memory),
               "raise server.files.tenant_memory, or look at it with the vesta command line"};
}

Result<FileContent> read_content(const FileSource& source, const Ingest& ingest) {
  auto content = read_file(source.bytes, "", read_options(ingest, source.tenant, true));
  if (content || content.error().code != ErrorCode::kLimit) return content;
  // Without times, samples that are otherwise alike are one.
  return read_file(source.bytes, "", read_options(ingest, source.tenant, false));
}

}  // namespace

std::string file_id(std::string_view name, std::string_view bytes) {
  const Hash128 content = hash128(bytes);
  const Hash128 both = hash128(fmt::format("{:016x}{:016x}{}", content.high, content.low, name));
  return fmt::format("{:016x}{:016x}", both.high, both.low);
}

Result<std::shared_ptr<const OpenedFile>> open_file(const FileSource& source) {
  auto file = std::make_shared<OpenedFile>();
  file->engine = make_memory_engine();
  IngestOptions options;
  options.limits = without_bounds_of_stores(source.limits);
  options.keep_negative = true;  // a difference is shown as it is
  options.now_ns = [now_ns = source.now_ns] { return now_ns; };
  Ingest ingest(*file->engine, std::move(options));
  VESTA_ASSIGN(FileContent content, read_content(source, ingest));
  file->bytes = stored_bytes_of(content.batch);
  VESTA_TRY(check_memory(*file, source));
  file->id = file_id(source.name, source.bytes);
  file->name = source.name;
  file->format = std::move(content.format);
  const auto default_type = default_type_of(content.batch);
  IngestHints hints;
  hints.service = source.name;
  hints.sample_labels = std::move(content.sample_labels);
  VESTA_ASSIGN(const IngestReceipt receipt,
               ingest.write(source.tenant, std::move(content.batch), hints));
  if (receipt.stored.profiles == 0) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the file ({}) holds no samples", file->format),
                 "the tool that wrote it was stopped before it had data?"};
  }
  file->bytes = std::max(file->bytes, file->engine->stats().memory_bytes);
  VESTA_TRY(check_memory(*file, source));
  VESTA_TRY(survey(*file, source.tenant, default_type));
  return std::shared_ptr<const OpenedFile>(std::move(file));
}

}  // namespace vesta::server
