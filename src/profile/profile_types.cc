#include "profile/profile_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vesta {
namespace {

constexpr Temporality kSum = Temporality::kCumulative;
constexpr Temporality kGauge = Temporality::kInstant;
constexpr std::string_view kTime = "nanoseconds";

// clang-format off
constexpr auto kRows = std::to_array<ProfileTypeRow>({
    // word       family         type                  unit     over time  Pyroscope's words
    {"cpu",       "process_cpu", "cpu",                kTime,   kSum,   "cpu itimer", "cores", true},
    {"cpu",       "process_cpu", "samples",            "count", kSum},
    {"off-cpu",   "off_cpu",     "off_cpu",            kTime,   kSum,   "", "", false, true},
    {"off-cpu",   "off_cpu",     "offcpu",             kTime,   kSum},
    {"off-cpu",   "off_cpu",     "off-cpu",            kTime,   kSum},
    {"off-cpu",   "off_cpu",     "waits",              "count", kSum},
    {"off-cpu-waker", "off_cpu_waker", "woken_time", kTime,  kSum,   "", "", false, true},
    {"off-cpu-waker", "off_cpu_waker", "woken_waits",   "count", kSum},
    {"wall",      "wall",        "wall",               kTime,   kSum,
     "wall seconds milliseconds microseconds nanoseconds", "", true},
    {"wall",      "wall",        "wall_samples",       "count", kSum},
    {"alloc",     "memory",      "alloc_space",        "bytes", kSum,   "alloc_space"},
    {"alloc",     "memory",      "alloc_sample_bytes", "bytes", kSum},
    {"alloc",     "memory",      "alloc_in_new_tlab_bytes", "bytes", kSum, "alloc_in_new_tlab_bytes"},
    {"alloc",     "memory",      "alloc_bytes",        "bytes", kSum},
    {"alloc",     "memory",      "malloc_bytes",       "bytes", kSum},
    {"alloc",     "memory",      "space",              "bytes", kSum},
    {"inuse",     "memory",      "inuse_space",        "bytes", kGauge, "inuse_space"},
    {"inuse",     "memory",      "inuse_bytes",        "bytes", kGauge},
    {"inuse",     "memory",      "live_bytes",         "bytes", kGauge},
    {"inuse",     "memory",      "live",               "count", kGauge, "live"},
    {"mutex",     "mutex",       "delay",              kTime,   kSum,   "mutex_duration"},
    {"mutex",     "mutex",       "mutex_duration",     kTime,   kSum},
    {"mutex",     "mutex",       "lock_time",          kTime,   kSum},
    {"mutex",     "mutex",       "contentions",        "count", kSum,   "mutex_count"},
    {"mutex",     "mutex",       "mutex_count",        "count", kSum},
    {"mutex-holder", "mutex_holder", "holder_delay",       kTime,   kSum,   "", "", false, true},
    {"mutex-holder", "mutex_holder", "holder_contentions", "count", kSum},
    {"block",     "block",       "delay",              kTime,   kSum,   "block_duration lock_duration"},
    {"block",     "block",       "block_duration",     kTime,   kSum},
    {"block",     "block",       "contentions",        "count", kSum,   "block_count lock_count"},
    {"block",     "block",       "block_count",        "count", kSum},
    {"goroutine", "goroutine",   "goroutine",          "count", kGauge},
    {"goroutine", "goroutine",   "goroutines",         "count", kGauge, "goroutines"},
    {"",          "memory",      "alloc_objects",      "count", kSum,   "alloc_objects"},
    {"",          "memory",      "alloc_in_new_tlab_objects", "count", kSum, "alloc_in_new_tlab_objects"},
    {"",          "memory",      "alloc_outside_tlab_objects", "count", kSum, "alloc_outside_tlab_objects"},
    {"",          "memory",      "alloc_outside_tlab_bytes", "bytes", kSum, "alloc_outside_tlab_bytes"},
    {"",          "memory",      "inuse_objects",      "count", kGauge, "inuse_objects"},
    {"",          "memory",      "inuse",              "bytes", kGauge},
    {"",          "memory",      "heap_size",          "bytes", kGauge},
    {"",          "memory",      "samples",            "bytes", kSum,   "bytes"},
    {"",          "old_objects", "live_objects",       "count", kGauge},
    {"",          "threadcreate", "threadcreate",      "count", kGauge},
    {"",          "exceptions",  "samples",            "count", kSum,   "exceptions"},
});

// By the name of a profile and the beginning of its type; the last row is for all others.
struct EventRow {
  std::string_view family;
  std::string_view type;
  EventWords words;
};
constexpr auto kEvents = std::to_array<EventRow>({
    {"process_cpu", "",      {"ebpf.CPUSample",        "cpu"}},
    {"off_cpu",     "",      {"ebpf.OffCPUSample",     "off-cpu"}},
    {"off_cpu_waker", "",    {"ebpf.OffCPUSample",     "off-cpu-waker"}},
    {"memory",      "inuse", {"ebpf.HeapSample",       "heap"}},
    {"memory",      "alloc", {"ebpf.AllocsSample",     "allocs"}},
    {"memory",      "",      {"ebpf.AllocationSample", "memory"}},
    {"mutex",       "",      {"ebpf.MutexSample",      "mutex"}},
    {"mutex_holder", "",     {"ebpf.MutexSample",      "mutex-holder"}},
    {"block",       "",      {"ebpf.BlockSample",      "block"}},
    {"wall",        "",      {"ebpf.WallSample",       "wall"}},
    {"goroutine",   "",      {"ebpf.GoroutineSample",  "goroutine"}},
    {"goroutines",  "",      {"ebpf.GoroutineSample",  "goroutine"}},
    {"",            "",      {"ebpf.Sample",           ""}},
});
// clang-format on

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return words;
}

const ProfileTypeRow* find_row(std::string_view type) {
  const auto* const at = std::ranges::find(kRows, type, &ProfileTypeRow::type);
  return at == kRows.end() ? nullptr : &*at;
}

}  // namespace

std::span<const ProfileTypeRow> profile_type_rows() {
  return kRows;
}

std::vector<std::string_view> short_type_names() {
  std::vector<std::string_view> words;
  for (const ProfileTypeRow& row : kRows) {
    if (!row.word.empty() && (words.empty() || words.back() != row.word)) words.push_back(row.word);
  }
  return words;
}

std::string short_type_list() {
  return fmt::format("{}", fmt::join(short_type_names(), ", "));
}

std::vector<std::string_view> types_of_word(std::string_view word) {
  std::vector<std::string_view> types;
  if (word.empty()) return types;
  for (const ProfileTypeRow& row : kRows) {
    if (row.word == word) types.push_back(row.type);
  }
  return types;
}

Temporality temporality_of(std::string_view type) {
  const ProfileTypeRow* row = find_row(type);
  return row == nullptr ? kSum : row->temporality;
}

std::string_view own_type_name(std::string_view family, std::string_view type) {
  const ProfileTypeRow* own = nullptr;
  bool is_shared = false;
  for (const ProfileTypeRow& row : kRows) {
    if (row.type != type || row.word.empty()) continue;
    if (row.family == family) {
      own = &row;
    } else {
      is_shared = true;
    }
  }
  if (own == nullptr || !is_shared || own->pyroscope.empty()) return {};
  return own->pyroscope.substr(0, own->pyroscope.find(' '));
}

std::string_view otlp_family_of(std::string_view type) {
  const ProfileTypeRow* row = find_row(type);
  return row != nullptr && row->is_otlp_family ? row->family : std::string_view();
}

const ProfileTypeRow* find_pyroscope_word(std::string_view word) {
  for (const ProfileTypeRow& row : kRows) {
    if (std::ranges::count(words_of(row.pyroscope), word) > 0) return &row;
  }
  return nullptr;
}

std::string pyroscope_word_list() {
  std::string list;
  for (const ProfileTypeRow& row : kRows) {
    for (const std::string_view word : words_of(row.pyroscope)) {
      list += (list.empty() ? "" : ", ") + std::string(word);
    }
  }
  return list;
}

EventWords event_words(std::string_view family, std::string_view type) {
  for (const EventRow& row : kEvents) {
    if (row.family.empty() || (row.family == family && type.starts_with(row.type))) {
      return row.words;
    }
  }
  return kEvents.back().words;
}

FlamebearerUnits flamebearer_units(std::string_view type, std::string_view unit,
                                   std::optional<int64_t> samples_per_second) {
  if (type == "cpu" && unit == kTime) return {"samples", kNanosecondsPerSecond};
  if (type == "samples" && samples_per_second) return {"samples", *samples_per_second};
  if (type == "samples" || type.ends_with("objects") || type.starts_with("goroutine")) {
    return {"objects"};
  }
  return {unit};
}

std::string profile_types_typescript() {
  std::string text =
      "// Generated from src/profile/profile_types.cc; VESTA_UPDATE=1 scripts/test -R '^profile$' "
      "writes it.\n"
      "export interface ProfileTypeInfo {\n"
      "  word: string; // what people type; empty for a type without a short word\n"
      "  family: string;\n"
      "  type: string;\n"
      "  unit: string;\n"
      "  instant: boolean;\n"
      "  rate: string; // what a second of it per second is called; empty for s/s\n"
      "}\n\n"
      "export const profileTypes: readonly ProfileTypeInfo[] = [\n";
  for (const ProfileTypeRow& row : kRows) {
    text += fmt::format(
        "  {{ word: '{}', family: '{}', type: '{}', unit: '{}', instant: {}, rate: '{}' }},\n",
        row.word, row.family, row.type, row.unit, row.temporality == kGauge, row.rate);
  }
  return text + "];\n";
}

}  // namespace vesta
