#include "formats/jfr/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "formats/common/parse_error.h"
#include "formats/jfr/chunk.h"
#include "formats/jfr/event_reader.h"
#include "formats/jfr/id_map.h"
#include "formats/jfr/metadata.h"

namespace vesta {

namespace jfr {
namespace {

constexpr std::string_view kLossUnfinished = "recording not finished";
constexpr std::string_view kLossCutOff = "chunk cut off";
// Of events that are not read, so many types are named one by one; the rest is told as one number.
constexpr size_t kMaxSkippedNames = 8;

class RecordingReader {
 public:
  RecordingReader(std::string_view bytes, const ReadOptions& options, JavaNames names)
      : bytes_(bytes),
        options_(options),
        names_(names),
        builder_(batch_.dictionary),
        events_(builder_, options) {
    // Names are decoded once per place in the code that appears in stacks, a small part of any
    // real recording.
    constexpr uint64_t kBaseBudget = 16 << 20;
    constexpr uint64_t kMaxBudget = uint64_t{3} << 30;
    budget_.max_string_bytes = options.max_string_bytes;
    budget_.bytes_left = std::min<uint64_t>(kBaseBudget + 16 * uint64_t{bytes.size()}, kMaxBudget);
  }

  Result<ProfileBatch> read() {
    for (size_t offset = 0; offset < bytes_.size();) {
      // What was written before the file was cut off is whole.
      if (has_chunk_ && is_cut_off(bytes_.substr(offset))) {
        ++cut_chunks_;
        break;
      }
      VESTA_ASSIGN(Chunk chunk, read_chunk_header(bytes_, offset));
      if (chunk.bytes.size() > std::numeric_limits<uint32_t>::max())
        return limit_error("jfr", "a chunk", std::numeric_limits<uint32_t>::max());
      offset += chunk.bytes.size();
      const bool is_tail = !bytes_.substr(offset).starts_with(kMagic);
      VESTA_TRY(read_chunk(chunk));
      // The writer may have appended what its header does not know of yet.
      if (chunk.unfinished && is_tail) break;
    }
    return finish();
  }

 private:
  Status read_chunk(Chunk& chunk) {
    size_t metadata_offset = chunk.metadata_offset;
    std::vector<size_t> checkpoints;
    if (chunk.unfinished) {
      ++unfinished_chunks_;
      const auto found = find_written_part(chunk, checkpoints);
      // Nothing can be said about a chunk that does not describe its types; others may stand.
      if (!found && has_chunk_) return {};
      if (!found) {
        return parse_error("jfr", chunk.file_offset,
                           "the recording is incomplete: it does not describe its events yet",
                           "stop the recording, or copy it with `jcmd PID JFR.dump`");
      }
      metadata_offset = *found;
    }
    if (metadata_offset < kChunkHeaderBytes || metadata_offset >= chunk.bytes.size()) {
      return parse_error(
          "jfr", chunk.file_offset + 24,
          fmt::format("chunk header: metadata offset {} is outside the chunk", metadata_offset),
          "the file is damaged");
    }
    VESTA_ASSIGN(const TypeTable types, read_metadata(chunk, metadata_offset));
    ConstantPools pools;
    if (chunk.unfinished) {
      VESTA_TRY(pools.read_each(chunk, types, checkpoints));
    } else {
      VESTA_TRY(pools.read_chain(chunk, types, chunk.constant_pool_offset));
    }
    VESTA_TRY(read_events(chunk, types, pools));
    has_chunk_ = true;
    if (chunk.unfinished) {
      chunk.duration_ns = std::max(chunk.duration_ns, events_.last_event_ns() - chunk.start_ns);
    }
    intervals_.emplace_back(chunk.start_ns, saturating_add(chunk.start_ns, chunk.duration_ns));
    return {};
  }

  // Ends the chunk after its last whole record, and finds checkpoints (newest first) and the newest
  // metadata by walking over its records.
  static std::optional<size_t> find_written_part(Chunk& chunk, std::vector<size_t>& checkpoints) {
    std::optional<size_t> metadata;
    size_t offset = kChunkHeaderBytes;
    Record record;
    while (offset < chunk.bytes.size() && read_record(chunk, offset, record)) {
      if (record.type_id == kMetadataTypeId) metadata = offset;
      if (record.type_id == kCheckpointTypeId) checkpoints.push_back(offset);
      offset = record.end;
    }
    chunk.bytes = chunk.bytes.substr(0, offset);
    std::reverse(checkpoints.begin(), checkpoints.end());
    return metadata;
  }

  Status read_events(const Chunk& chunk, const TypeTable& types, const ConstantPools& pools) {
    Constants constants(chunk, types, pools, builder_, budget_);
    StackResolver stacks(constants, options_.max_stack_depth, names_);
    std::vector<EventPlan> plans;
    std::vector<std::string_view> names;  // of the events, as many as plans
    IdMap plan_of_type;
    for (size_t i = 0; i < types.types().size(); ++i) {
      const Type& type = types.types()[i];
      if (type.name.starts_with("profiler.")) events_.settings().set_async_profiler();
      const EventSpec* spec = find_event(type.name);
      if (spec == nullptr) {
        if (auto program = program_of_skipped(types, static_cast<uint32_t>(i), chunk);
            program && plan_of_type.insert(type.id, static_cast<uint32_t>(plans.size()))) {
          plans.push_back({nullptr, std::move(*program), {}});
          names.push_back(type.name);
        }
        continue;
      }
      const WantedFields wanted = wanted_fields(*spec);
      auto program = compile_fields(types, static_cast<uint32_t>(i),
                                    {.wanted = wanted.span(),
                                     .compressed_ints = chunk.compressed_ints,
                                     .may_stop_early = true});
      if (!program) {
        return parse_error(
            "jfr", chunk.file_offset + chunk.metadata_offset,
            fmt::format("metadata: event {}: {}", type.name, program.error().message),
            "the file is damaged");
      }
      if (plan_of_type.insert(type.id, static_cast<uint32_t>(plans.size()))) {
        plans.push_back({spec, std::move(program).value(), builder_.string(spec->short_name())});
        names.push_back(type.name);
      }
    }
    // Type ids of a JDK are small: most records are told by one look at this table.
    constexpr int64_t kSmallIds = 4096;
    std::vector<uint32_t> plan_of_small_id(kSmallIds, IdMap::kNone);
    for (const Type& type : types.types()) {
      if (type.id >= 0 && type.id < kSmallIds)
        plan_of_small_id[static_cast<size_t>(type.id)] = plan_of_type.find(type.id);
    }
    const auto find_plan = [&](int64_t id) {
      return id >= 0 && id < kSmallIds ? plan_of_small_id[static_cast<size_t>(id)]
                                       : plan_of_type.find(id);
    };
    const auto is_setup = [](const EventPlan& plan) {
      return plan.spec->kind == EventKind::kSetting ||
             plan.spec->kind == EventKind::kDatadogConfig ||
             plan.spec->kind == EventKind::kJvmInformation ||
             plan.spec->kind == EventKind::kSystemProperty;
    };
    bool counts_skipped = false;  // in one of the two walks
    const auto for_each_event = [&](auto&& visit) -> Status {
      Record record;
      for (size_t offset = kChunkHeaderBytes; offset < chunk.bytes.size(); offset = record.end) {
        if (!read_record(chunk, offset, record)) return bad_record(chunk, offset);
        const uint32_t plan = find_plan(record.type_id);
        if (plan == IdMap::kNone) continue;
        if (plans[plan].spec != nullptr) {
          VESTA_TRY(visit(plans[plan], record));
        } else if (counts_skipped && has_stack(chunk, plans[plan], record)) {
          ++skipped_[std::string(names[plan])];
        }
      }
      return {};
    };
    // Settings say what a sample is worth, and may be written after it.
    VESTA_TRY(for_each_event([&](const EventPlan& plan, const Record& record) -> Status {
      if (is_setup(plan)) events_.read_setup(plan, record, constants);
      return {};
    }));
    counts_skipped = true;
    return for_each_event([&](const EventPlan& plan, const Record& record) -> Status {
      if (is_setup(plan)) return {};
      return events_.read_sample(plan, record, constants, stacks);
    });
  }

  // Events that are not read but look like samples, for they have a stack; empty for others.
  static std::optional<FieldProgram> program_of_skipped(const TypeTable& types, uint32_t position,
                                                        const Chunk& chunk) {
    const auto is_stack = [](const Field& field) {
      return field.name == "stackTrace" && field.constant_pool;
    };
    if (std::ranges::none_of(types[position].fields, is_stack)) return std::nullopt;
    constexpr std::array kStack{WantedField{"stackTrace", kSlotStack}};
    auto program = compile_fields(
        types, position,
        {.wanted = kStack, .compressed_ints = chunk.compressed_ints, .may_stop_early = true});
    if (!program) return std::nullopt;
    return std::move(program).value();
  }

  // Many events can have a stack and were recorded without one.
  static bool has_stack(const Chunk& chunk, const EventPlan& plan, const Record& record) {
    Slots slots;
    Cursor cursor = chunk.cursor(record.payload, record.end);
    plan.program.run(cursor, slots);
    return !cursor.failed() && slots.numbers[kSlotStack] != 0;
  }

  void add_skipped(Profile& profile) {
    std::vector<std::pair<std::string, uint64_t>> counts(skipped_.begin(), skipped_.end());
    std::ranges::stable_sort(counts, std::greater<>(), &std::pair<std::string, uint64_t>::second);
    uint64_t others = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      if (i >= kMaxSkippedNames) {
        others += counts[i].second;
        continue;
      }
      const std::string name = replace_invalid_utf8(counts[i].first.substr(0, 200));
      profile.add_loss(builder_.string(fmt::format("events {} (not read)", name)),
                       counts[i].second);
    }
    profile.add_loss(builder_.string("events of other types (not read)"), others);
  }

  LabelSetId resource() {
    const JvmInformation& jvm = events_.jvm();
    std::vector<Label> labels;
    const auto add = [&](std::string_view key, std::string_view value) {
      if (!value.empty()) labels.push_back(builder_.text_label(key, value));
    };
    if (!jvm.name.empty()) add("process.executable.name", "java");
    add("process.runtime.name", jvm.name);
    add("process.runtime.version", jvm.version);
    add("jvm.main_class", jvm.main_class);
    add("service.name", jvm.service_name());
    if (names_ == JavaNames::kPyroscope) add("jfr_event", events_.settings().event());
    if (jvm.pid > 0) labels.push_back(builder_.number_label("process.pid", jvm.pid));
    return builder_.label_set(labels);
  }

  // The time that chunks cover: those of two recorders in one file overlap.
  int64_t covered_ns() {
    std::sort(intervals_.begin(), intervals_.end());
    int64_t covered = 0;
    int64_t end = std::numeric_limits<int64_t>::min();
    for (const auto& [from, to] : intervals_) {
      const int64_t begin = std::max(from, end);
      if (to <= begin) continue;
      covered = saturating_add(covered, to - begin);
      end = to;
    }
    return covered;
  }

  Result<ProfileBatch> finish() {
    events_.finish();
    RecordingInfo info;
    info.duration_ns = covered_ns();
    info.time_ns = intervals_.empty() ? 0 : intervals_.front().first;
    info.resource = resource();
    info.perf_event = events_.perf_event();
    if (events_.families().row_count() > options_.max_samples)
      return limit_error("jfr", "the number of samples", options_.max_samples);
    if (budget_.exhausted)
      return limit_error("jfr", "the text of all names", options_.max_decoded_bytes);
    batch_.profiles = events_.families().finish(builder_, info);
    if (!batch_.profiles.empty()) {
      // What cannot be laid at the door of one family is told once, with the first.
      Profile& first = batch_.profiles.front();
      first.add_loss(builder_.string(kLossInvalidUtf8), budget_.invalid_utf8);
      first.add_loss(builder_.string(kLossNameTruncated), budget_.cut_names);
      first.add_loss(builder_.string(kLossUnfinished), unfinished_chunks_);
      first.add_loss(builder_.string(kLossCutOff), cut_chunks_);
      add_skipped(first);
      first.add_loss(builder_.string("bytes lost by the recorder"), events_.lost_bytes());
    }
    return std::move(batch_);
  }

  std::string_view bytes_;
  const ReadOptions& options_;
  const JavaNames names_;
  ProfileBatch batch_;
  DictionaryBuilder builder_;
  TextBudget budget_;
  EventReader events_;
  std::vector<std::pair<int64_t, int64_t>> intervals_;
  uint64_t unfinished_chunks_ = 0;
  uint64_t cut_chunks_ = 0;
  std::map<std::string, uint64_t> skipped_;  // events with stacks, by type
  bool has_chunk_ = false;
};

}  // namespace
}  // namespace jfr

bool looks_like_jfr(std::string_view bytes) {
  return bytes.starts_with(jfr::kMagic);
}

Result<ProfileBatch> read_jfr(std::string_view bytes, const ReadOptions& options) {
  return read_jfr(bytes, options, JavaNames::kDots);
}

Result<ProfileBatch> read_jfr(std::string_view bytes, const ReadOptions& options, JavaNames names) {
  VESTA_TRY(check_input_size("jfr", bytes, options.max_decoded_bytes));
  if (bytes.empty()) return parse_error("jfr", 0, "no bytes", "not a JFR recording");
  return jfr::RecordingReader(bytes, options, names).read();
}

}  // namespace vesta
