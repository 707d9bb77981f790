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

// What the engine in memory takes for a series with a profile, for a sample with its stack, and for
// a label of a set that samples have.
constexpr uint64_t kProfileBytes = 4096;
constexpr uint64_t kSampleBytes = 128;
constexpr uint64_t kLabelBytes = 256;
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
    const uint64_t of_type = kProfileBytes + profile.samples.size() * kSampleBytes;
    bytes += of_type * profile.sample_types.size();
  }
  const auto& sets = batch.dictionary.label_sets;
  for (size_t i = 1; i < sets.size(); ++i) bytes += sets[LabelSetId(i)].size() * kLabelBytes;
  return bytes;
}

// What the file itself would show first, as long as that has values: "cpu", "nanoseconds".
std::pair<std::string, std::string> default_type_of(const ProfileBatch& batch) {
  const Result<TypeInfo> type = find_type(list_types(batch), "");
  if (!type) return {};
  return {type->type, type->unit};
}

// Says what was stored, type by type.
Status survey(OpenedFile& file, MemoryEngine& engine, std::string_view tenant,
              const std::pair<std::string, std::string>& default_type) {
  MemoryContents contents = engine.contents(tenant);
  if (contents.samples.size() > kMaxTypes) {
    return Error{ErrorCode::kLimit,
                 fmt::format("the file has {} profile types; the limit is {}",
                             contents.samples.size(), kMaxTypes),
                 "split it with vesta convert"};
  }
  file.range = contents.range;
  file.labels = std::move(contents.labels);
  std::vector<ProfileType> types;
  for (const auto& [type, samples] : contents.samples) types.push_back(type);
  std::ranges::sort(types, {}, &ProfileType::id);
  for (const ProfileType& type : types) {
    SelectRequest request;
    request.type = type;
    request.range = kAllTime;
    request.budget.bytes = UINT64_MAX;
    VESTA_ASSIGN(const auto selections, engine.select(tenant, request));
    const int64_t total = selections.empty() ? 0 : selections.front().total;
    file.types.push_back({type, selector_word(types, type), total, contents.samples.at(type)});
  }
  std::stable_partition(file.types.begin(), file.types.end(), [&](const FileType& type) {
    return type.type.sample_type == default_type.first &&
           type.type.sample_unit == default_type.second;
  });
  return {};
}

Status check_memory(const OpenedFile& file, const FileSource& source) {
  if (file.bytes <= source.max_memory) return {};
  return Error{ErrorCode::kLimit,
               fmt::format("the file would need about {} bytes of memory; the limit is {}",
                           file.bytes, source.max_memory),
               "raise server.files.tenant_memory, or use the vesta command line"};
}

Status check_stop(const FileSource& source) {
  if (!source.stop || !source.stop()) return {};
  return Error{ErrorCode::kUnavailable, "opening the file was cancelled", ""};
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
  auto in_memory = make_memory_engine(source.stop);
  MemoryEngine& engine = *in_memory;
  file->engine = std::move(in_memory);
  IngestOptions options;
  options.limits = without_bounds_of_stores(source.limits);
  options.keep_negative = true;  // a difference is shown as it is
  options.clock = [now_ns = source.now_ns] { return UnixNs(now_ns); };
  Ingest ingest(*file->engine, std::move(options));
  VESTA_ASSIGN(FileContent content, read_content(source, ingest));
  VESTA_TRY(check_stop(source));
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
                 "the tool that wrote it was probably stopped before it had data"};
  }
  file->bytes = std::max(file->bytes, file->engine->stats().memory_bytes);
  VESTA_TRY(check_memory(*file, source));
  VESTA_TRY(check_stop(source));
  VESTA_TRY(survey(*file, engine, source.tenant, default_type));
  return std::shared_ptr<const OpenedFile>(std::move(file));
}

}  // namespace vesta::server
