#include "ingest/pyroscope/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/json_reader.h"
#include "base/time.h"
#include "base/utf8.h"
#include "formats/common/parse_error.h"
#include "formats/folded/reader.h"
#include "formats/jfr/reader.h"
#include "formats/pprof/reader.h"
#include "formats/speedscope/reader.h"
#include "ingest/profile_types.h"
#include "ingest/pyroscope/jfr_labels.h"
#include "ingest/pyroscope/stack_formats.h"
#include "ingest/unpack.h"
#include "profile/merge/transform.h"
#include "profile/merged_profile.h"

namespace vesta::pyroscope {
namespace {

// {"samples": {"display-name": "cpu", "units": …}, …}: only the display names matter.
Result<DisplayNames> read_sample_type_config(std::string_view text) {
  const auto read = [&]() -> Result<DisplayNames> {
    VESTA_ASSIGN(const JsonTree tree, JsonTree::parse(text));
    VESTA_ASSIGN(const auto types, tree.root().fields());
    DisplayNames names;
    for (const auto& [type, config] : types) {
      VESTA_TRY(config.fields());
      names[std::string(type)] = config["display-name"].text().value_or("");
    }
    return names;
  };
  auto names = read();
  if (names) return names;
  return parse_error_at_field("sample_type_config", "(top level)", names.error().message,
                              "use an object with one object for each sample type");
}

// Old profilers of scripting languages put the file beside the function's name.
void put_files_into_names(Dictionary& dictionary, bool keep_absolute) {
  // A small table of functions can refer to one long name over and over.
  constexpr size_t kMaxTextBytes = size_t{64} << 20;
  const size_t limit = dictionary.strings.byte_size() + kMaxTextBytes;
  for (Function& function : dictionary.functions) {
    if (dictionary.strings.byte_size() > limit) return;
    const std::string_view file = dictionary.string(function.file);
    if (file.empty() || (keep_absolute && file.starts_with('/'))) continue;
    const std::string name = fmt::format("{} {}", file, dictionary.string(function.name));
    function.name = dictionary.strings.add(name);
  }
}

void replace_dashes(Dictionary& dictionary, Profile& profile) {
  for (SampleType& type : profile.sample_types) {
    std::string name(dictionary.string(type.type));
    std::ranges::replace(name, '-', '_');
    type = {dictionary.strings.add(name), type.unit, temporality_of(name)};
  }
}

Status read_pprof_payload(const Payload& payload, std::string_view bytes,
                          const ReadOptions& options, ReadPayload& out) {
  VESTA_ASSIGN(out.batch, read_pprof(bytes, options));
  DisplayNames names = default_display_names();
  if (payload.sample_type_config) {
    VESTA_ASSIGN(names, read_sample_type_config(*payload.sample_type_config));
  }
  Dictionary& dictionary = out.batch.dictionary;
  Profile& profile = out.batch.profiles.front();
  const std::string& spy = payload.spy;
  if (spy == "pyspy" || spy == "rbspy" || spy == "scripting")
    put_files_into_names(dictionary, spy == "pyspy");
  if (spy == "dotnetspy" || names.contains("inuse-space")) replace_dashes(dictionary, profile);
  out.hints.name = guess_family(dictionary, profile, names);
  out.hints.distrust_1970 = true;
  return {};
}

// Each start of a program has another one: as a label it would make a new series each time.
void drop_process_id(ProfileBatch& batch) {
  auto& sets = batch.dictionary.label_sets;
  for (Profile& profile : batch.profiles) {
    std::vector<Label> labels(sets[profile.resource].begin(), sets[profile.resource].end());
    std::erase_if(labels, [&](const Label& label) {
      return batch.dictionary.string(label.key) == "process.pid";
    });
    profile.resource = sets.add(labels);
  }
}

Status read_jfr_payload(const Payload& payload, std::string_view bytes, const ReadOptions& options,
                        ReadPayload& out) {
  VESTA_ASSIGN(out.batch, read_jfr(bytes, options, payload.java_names));
  if (payload.labels) {
    VESTA_ASSIGN(const Unpacked labels, Unpacked::make(*payload.labels, options.max_decoded_bytes));
    VESTA_TRY(apply_jfr_labels(out.batch, labels.bytes()));
  }
  drop_sample_counts(out.batch);
  drop_process_id(out.batch);
  out.hints.sample_labels = {"class", "state", "event"};
  return {};
}

Result<const ProfileTypeRow*> type_of(std::string_view suffix) {
  const ProfileTypeRow* word = find_pyroscope_word(suffix.empty() ? "cpu" : suffix);
  if (word != nullptr) return word;
  return Error{ErrorCode::kUsage,
               fmt::format("name: '{}' after the last dot is not a profile type",
                           replace_invalid_utf8(suffix.substr(0, 60))),
               fmt::format("use one of {}", pyroscope_word_list())};
}

// Groups with two numbers on each line look like a difference of profiles; the last one counts.
void keep_last_type(ProfileBatch& batch) {
  const auto types = list_types(batch);
  if (types.size() > 1) batch = only_type(std::move(batch), types.back());
}

// Formats that say nothing of time cover what the URL says, unless that makes no sense.
int64_t duration_of(const Payload& payload) {
  const int64_t span = saturating_subtract(payload.until_ns, payload.from_ns);
  return span > 0 && span < kDay ? span : 0;
}

Status read_stacks_payload(const Payload& payload, std::string_view bytes,
                           const ReadOptions& options, ReadPayload& out) {
  VESTA_ASSIGN(const ProfileTypeRow* const word, type_of(split_suffix(payload.name.app).second));
  switch (payload.format) {
    case PayloadFormat::kLines: {
      VESTA_ASSIGN(out.batch, read_lines(bytes, options));
      break;
    }
    case PayloadFormat::kTrie: {
      VESTA_ASSIGN(out.batch, read_trie(bytes, options));
      break;
    }
    case PayloadFormat::kTree: {
      VESTA_ASSIGN(out.batch, read_tree(bytes, options));
      break;
    }
    default: {
      VESTA_ASSIGN(out.batch, read_folded(bytes, options));
      keep_last_type(out.batch);
    }
  }
  for (Profile& profile : out.batch.profiles) {
    apply_type_word(out.batch.dictionary, profile, *word, payload.sample_rate);
    profile.duration_ns = duration_of(payload);
  }
  return {};
}

// A file with one profile is what the name says; of several, each goes by its unit.
Status read_speedscope_payload(const Payload& payload, std::string_view bytes,
                               const ReadOptions& options, ReadPayload& out) {
  const std::string_view suffix = split_suffix(payload.name.app).second;
  VESTA_ASSIGN(out.batch, read_speedscope(bytes, options));
  Dictionary& dictionary = out.batch.dictionary;
  // Each profile of the file has a label set with its name.
  const bool is_single = dictionary.label_sets.size() <= 2 && out.batch.profiles.size() == 1;
  for (Profile& profile : out.batch.profiles) {
    const std::string_view unit = dictionary.string(profile.sample_types.front().unit);
    std::string_view word = "cpu";
    if (unit == "bytes") word = "bytes";
    if (unit == "nanoseconds" && !is_single) word = "wall";
    if (is_single && find_pyroscope_word(suffix) != nullptr) word = suffix;
    apply_type_word(dictionary, profile, *find_pyroscope_word(word), payload.sample_rate);
    profile.time_ns = 0;
    profile.duration_ns = duration_of(payload);
  }
  return {};
}

}  // namespace

bool names_type_by_suffix(PayloadFormat format) {
  return format != PayloadFormat::kPprof && format != PayloadFormat::kJfr;
}

Result<ReadPayload> read_payload(const Payload& payload, const ReadOptions& options) {
  ReadPayload out;
  VESTA_ASSIGN(const Unpacked unpacked, Unpacked::make(payload.profile, options.max_decoded_bytes));
  const std::string_view bytes = unpacked.bytes();
  switch (payload.format) {
    case PayloadFormat::kPprof:
      VESTA_TRY(read_pprof_payload(payload, bytes, options, out));
      break;
    case PayloadFormat::kJfr:
      VESTA_TRY(read_jfr_payload(payload, bytes, options, out));
      break;
    case PayloadFormat::kSpeedscope:
      VESTA_TRY(read_speedscope_payload(payload, bytes, options, out));
      break;
    default:
      VESTA_TRY(read_stacks_payload(payload, bytes, options, out));
  }
  std::string_view service = payload.name.app;
  if (names_type_by_suffix(payload.format) &&
      find_pyroscope_word(split_suffix(service).second) != nullptr)
    service = split_suffix(service).first;
  out.hints.protocol = IngestProtocol::kPyroscopeIngest;
  out.hints.labels = payload.name.labels;
  const auto add_label = [&](std::string_view name, std::string_view value) {
    if (std::ranges::find(out.hints.labels, name, &LabelPairs::value_type::first) ==
        out.hints.labels.end())
      out.hints.labels.emplace_back(name, value);
  };
  add_label("pyroscope_spy", payload.spy);
  if (payload.format != PayloadFormat::kPprof) add_label("app_name", service);
  out.hints.service = service;
  out.hints.time_ns = payload.from_ns;
  out.hints.decoded_bytes = bytes.size();
  return out;
}

}  // namespace vesta::pyroscope
