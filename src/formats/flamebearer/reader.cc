#include "formats/flamebearer/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "formats/common/json_document.h"
#include "formats/common/name_cleaner.h"
#include "formats/common/parse_error.h"
#include "formats/common/stack_budget.h"
#include "formats/flamebearer/level_decoder.h"
#include "profile/dictionary_builder.h"
#include "profile/sample_table.h"

namespace vesta {
namespace {

constexpr std::string_view kFormat = "flamebearer";
constexpr std::string_view kKey = "\"flamebearer\"";
constexpr std::string_view kSyntaxHint = "the file may be cut off or damaged";
constexpr std::string_view kTruncatedFrame = "[truncated]";

Error error_at(std::string_view path, std::string_view what, std::string_view hint = {}) {
  return parse_error_at_field(kFormat, path, what, hint);
}

Error syntax_error(std::string_view path) {
  return error_at(path, "invalid JSON from here on", kSyntaxHint);
}

struct TypeName {
  std::string_view type;
  std::string_view unit;
};

// Pyroscope's words for units, and what they measure.
TypeName type_of_units(std::string_view units, int64_t sample_rate) {
  if (units == "samples" && sample_rate == kSecond) return {"cpu", "nanoseconds"};
  if (units == "bytes") return {"space", "bytes"};
  if (units == "objects") return {"objects", "count"};
  if (units == "goroutines") return {"goroutines", "count"};
  if (units == "lock_samples") return {"contentions", "count"};
  if (units == "lock_nanoseconds") return {"delay", "nanoseconds"};
  const Unit unit = parse_unit(units);
  if (unit.kind == UnitKind::kTime) return {"time", units};
  if (unit.kind == UnitKind::kMemory) return {"space", units};
  return {"samples", "count"};
}

class Reader {
 public:
  explicit Reader(const ReadOptions& options)
      : options_(options), builder_(batch_.dictionary), names_(options) {}

  Result<ProfileBatch> read(std::string_view bytes) {
    VESTA_TRY(check_input_size(kFormat, bytes, options_.max_decoded_bytes));
    frame_budget_ = stack_frame_budget(bytes.size());
    VESTA_TRY(json_.open(kFormat, bytes));
    VESTA_TRY(read_top_level());
    VESTA_TRY(read_levels());
    finish();
    return std::move(batch_);
  }

 private:
  // First pass: all but the levels, whose meaning depends on it.
  Status read_top_level() {
    ondemand::object root;
    if (!json_.root(root)) return error_at("(top level)", "not a JSON object", kSyntaxHint);
    bool has_graph = false;
    for (auto result : root) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error("(top level)");
      if (field.key() == "version") {
        const auto version = json_integer(field.value());
        if (!version || *version < 0 || *version > 1) {
          return error_at("version", "unknown version", "only version 1 is supported");
        }
      } else if (field.key() == "metadata") {
        ondemand::object metadata;
        if (field.value().get_object().get(metadata)) return error_at("metadata", "not an object");
        VESTA_TRY(read_fields("metadata", metadata));
      } else if (field.key() == "timeline") {
        ondemand::object timeline;
        // null when the answer has none
        if (field.value().get_object().get(timeline) == simdjson::SUCCESS) {
          VESTA_TRY(read_timeline(timeline));
        }
      } else if (field.key() == "flamebearer" && !has_graph) {
        ondemand::object graph;
        if (field.value().get_object().get(graph)) return error_at("flamebearer", "not an object");
        VESTA_TRY(read_fields("flamebearer", graph));
        has_graph = true;
      }
    }
    if (!has_graph) return error_at("flamebearer", "missing");
    if (!has_names_) return error_at("flamebearer.names", "missing");
    return {};
  }

  // Early versions had what is in `metadata` now in `flamebearer` itself.
  Status read_fields(const std::string& path, ondemand::object& object) {
    for (auto result : object) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error(path);
      if (field.key() == "format") {
        ondemand::raw_json_string format;
        const bool is_text = field.value().get_raw_json_string().get(format) == simdjson::SUCCESS;
        if (is_text && format == "double") {
          sides_ = 2;
        } else if (!is_text || !(format == "single")) {
          return error_at(path + ".format", "neither \"single\" nor \"double\"");
        }
      } else if (field.key() == "units") {
        VESTA_TRY(read_text(path + ".units", field.value(), units_));
      } else if (field.key() == "name") {
        VESTA_TRY(read_text(path + ".name", field.value(), name_));
      } else if (field.key() == "sampleRate") {
        const auto rate = json_integer(field.value());
        if (!rate || *rate < 0) return error_at(path + ".sampleRate", "not a frequency");
        sample_rate_ = *rate;
      } else if (field.key() == "numTicks") {
        ticks_ = json_integer(field.value());
        if (!ticks_) return error_at(path + ".numTicks", "not a whole number");
      } else if (field.key() == "names" && !has_names_ && path == "flamebearer") {
        ondemand::array names;
        if (field.value().get_array().get(names)) return error_at(path + ".names", "not an array");
        VESTA_TRY(read_names(names));
        has_names_ = true;
      }
    }
    return {};
  }

  Status read_text(std::string_view path, ondemand::value value, StringId& id) {
    if (bool null = false; value.is_null().get(null) == simdjson::SUCCESS && null) return {};
    std::string_view text;
    if (value.get_string().get(text)) return error_at(path, "not a string", kSyntaxHint);
    id = builder_.string(names_.clean(text));
    return {};
  }

  Status read_names(ondemand::array& names) {
    for (auto item : names) {
      std::string_view name;
      if (item.get_string().get(name)) {
        return error_at(fmt::format("flamebearer.names[{}]", frames_.size()), "not a string",
                        kSyntaxHint);
      }
      frames_.push_back(builder_.frame(names_.clean(name)));
    }
    return {};
  }

  // One value per step of `durationDelta` seconds from `startTime` on.
  Status read_timeline(ondemand::object& timeline) {
    int64_t start = 0;
    int64_t step = 0;
    int64_t steps = 0;
    for (auto result : timeline) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error("timeline");
      if (field.key() == "startTime") {
        start = json_integer(field.value()).value_or(0);
      } else if (field.key() == "durationDelta") {
        step = json_integer(field.value()).value_or(0);
      } else if (field.key() == "samples") {
        ondemand::array samples;
        if (field.value().get_array().get(samples)) continue;
        for (auto sample : samples) {
          if (sample.error()) return syntax_error("timeline.samples");
          ++steps;
        }
      }
    }
    int64_t duration = 0;
    if (start > 0 && start < kLatestSecond) time_ns_ = start * kSecond;
    if (step > 0 && !__builtin_mul_overflow(step, steps, &duration) && duration < kLatestSecond) {
      duration_ns_ = duration * kSecond;
    }
    return {};
  }

  Status read_levels() {
    ondemand::object root;
    if (!json_.root(root)) return syntax_error("(top level)");
    for (auto result : root) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error("(top level)");
      if (!(field.key() == "flamebearer")) continue;
      ondemand::object graph;
      if (field.value().get_object().get(graph)) return syntax_error("flamebearer");
      for (auto inner : graph) {
        ondemand::field part;
        if (std::move(inner).get(part)) return syntax_error("flamebearer");
        if (!(part.key() == "levels")) continue;
        ondemand::array levels;
        if (part.value().get_array().get(levels)) {
          return error_at("flamebearer.levels", "not an array");
        }
        return read_level_array(levels);
      }
      break;
    }
    return error_at("flamebearer.levels", "missing");
  }

  Status read_level_array(ondemand::array& levels) {
    LevelDecoder decoder(sides_, frames_.size());
    SampleTable table(sides_);
    std::vector<LevelDecoder::Own> done;
    std::vector<int64_t> numbers;
    size_t level = 0;
    for (auto item : levels) {
      const auto path = [&] { return fmt::format("flamebearer.levels[{}]", level); };
      ondemand::array row;
      if (item.get_array().get(row)) return error_at(path(), "not an array", kSyntaxHint);
      numbers.clear();
      for (auto number_item : row) {
        ondemand::value value;
        std::optional<int64_t> number;
        if (number_item.get(value) == simdjson::SUCCESS) number = json_integer(value);
        if (!number) {
          return error_at(fmt::format("{}[{}]", path(), numbers.size()), "not a whole number",
                          kSyntaxHint);
        }
        numbers.push_back(*number);
      }
      if (numbers.size() % decoder.values_per_bar() != 0) {
        return error_at(path(),
                        fmt::format("{} numbers, which is not a multiple of {}", numbers.size(),
                                    decoder.values_per_bar()),
                        "a bar has 4 numbers in the format single and 7 in double");
      }
      VESTA_TRY(decoder.add_level(numbers, done));
      VESTA_TRY(add_samples(decoder, done, table));
      ++level;
    }
    VESTA_TRY(decoder.add_level({}, done));
    VESTA_TRY(add_samples(decoder, done, table));

    const int64_t total = saturating_add(decoder.total(0), decoder.total(1));
    if (ticks_ && *ticks_ != total) {
      return error_at("flamebearer.numTicks",
                      fmt::format("{}, but the bars add up to {}", *ticks_, total), kSyntaxHint);
    }
    samples_ = table.finish();
    return {};
  }

  Status add_samples(const LevelDecoder& decoder, const std::vector<LevelDecoder::Own>& bars,
                     SampleTable& table) {
    const auto any = [](const std::array<int64_t, 2>& values) { return values[0] | values[1]; };
    for (const LevelDecoder::Own& bar : bars) {
      if (any(bar.self)) table.add(stack_of(decoder, bar.node, false), {bar.self.data(), sides_});
      if (any(bar.cut)) table.add(stack_of(decoder, bar.node, true), {bar.cut.data(), sides_});
      if (batch_.dictionary.stacks.item_count() > frame_budget_) {
        return limit_error(kFormat, "number of frames in all stacks", frame_budget_);
      }
      if (table.size() > options_.max_samples) {
        return limit_error(kFormat, "number of samples", options_.max_samples);
      }
    }
    return {};
  }

  // The bar at the bottom stands for the whole and is no frame.
  StackId stack_of(const LevelDecoder& decoder, uint32_t node, bool is_cut) {
    stack_.clear();
    if (is_cut) stack_.push_back(builder_.frame(kTruncatedFrame));
    const auto& nodes = decoder.nodes();
    for (; nodes[node].parent != LevelDecoder::kNoNode; node = nodes[node].parent) {
      if (stack_.size() == options_.max_stack_depth) {
        names_.count_cut_stack();
        break;
      }
      stack_.push_back(frames_[nodes[node].name]);
    }
    return builder_.stack(stack_);
  }

  void finish() {
    Profile profile;
    profile.name = name_;
    profile.time_ns = time_ns_;
    profile.duration_ns = duration_ns_;
    // A copy: interning may move what the view points at.
    const std::string units(batch_.dictionary.string(units_));
    const TypeName type = type_of_units(units, sample_rate_);
    const StringId unit = builder_.string(type.unit);
    if (sides_ == 2) {
      profile.sample_types = {{builder_.string("left"), unit, temporality_of(type.type)},
                              {builder_.string("right"), unit, temporality_of(type.type)}};
      profile.default_type = 1;
    } else {
      profile.sample_types = {{builder_.string(type.type), unit, temporality_of(type.type)}};
    }
    if (type.type == "samples" && sample_rate_ > 0) {
      profile.period_type = {builder_.string("cpu"), builder_.string("nanoseconds")};
      profile.period = kSecond / sample_rate_;
    }
    profile.samples = std::move(samples_);
    names_.add_losses(profile, builder_);
    if (json_.repairs() > 0) profile.add_loss(builder_.string(kLossInvalidUtf8), json_.repairs());
    batch_.profiles.push_back(std::move(profile));
  }

  static constexpr int64_t kLatestSecond = 9'000'000'000;  // times ns per s fits into 64 bits

  const ReadOptions& options_;
  ProfileBatch batch_;
  DictionaryBuilder builder_;
  NameCleaner names_;
  JsonDocument json_;
  size_t frame_budget_ = 0;
  size_t sides_ = 1;
  StringId units_;
  StringId name_;
  int64_t sample_rate_ = 0;
  std::optional<int64_t> ticks_;
  int64_t time_ns_ = 0;
  int64_t duration_ns_ = 0;
  bool has_names_ = false;
  std::vector<LocationId> frames_;  // by index in `names`
  Samples samples_;
  std::vector<LocationId> stack_;  // scratch
};

}  // namespace

bool looks_like_flamebearer(std::string_view bytes) {
  if (!starts_like_json_object(bytes)) return false;
  return memmem(bytes.data(), bytes.size(), kKey.data(), kKey.size()) != nullptr;
}

Result<ProfileBatch> read_flamebearer(std::string_view bytes, const ReadOptions& options) {
  return Reader(options).read(bytes);
}

}  // namespace vesta
