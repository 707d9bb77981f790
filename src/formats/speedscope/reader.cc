#include "formats/speedscope/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "formats/common/json_document.h"
#include "formats/common/losses.h"
#include "formats/common/name_cleaner.h"
#include "formats/common/parse_error.h"
#include "formats/common/stack_budget.h"
#include "formats/speedscope/value_scale.h"
#include "profile/dictionary_builder.h"
#include "profile/sample_table.h"

namespace vesta {
namespace {

constexpr std::string_view kFormat = "speedscope";
constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";
constexpr std::string_view kSyntaxHint = "the file may be cut off or damaged";

Error error_at(std::string_view path, std::string_view what, std::string_view hint = {}) {
  return parse_error_at_field(kFormat, path, what, hint);
}

Error syntax_error(std::string_view path) {
  return error_at(path, "invalid JSON from here on", kSyntaxHint);
}

// What the file says of one profile before its samples or events.
struct Header {
  std::string path;  // "profiles[3]"
  std::string type;
  std::string name;
  SpeedscopeUnit unit;
  std::optional<JsonNumber> start;
  std::optional<JsonNumber> end;
};

// The profiles of one kind of unit.
struct Group {
  bool used = false;
  SampleTable table{1};
  CarriedRounding carry;
  double start_ns = 0;
  double end_ns = 0;
};

class Reader {
 public:
  explicit Reader(const ReadOptions& options)
      : options_(options), builder_(batch_.dictionary), names_(options) {}

  Result<ProfileBatch> read(std::string_view bytes) {
    VESTA_TRY(check_input_size(kFormat, bytes, options_.max_decoded_bytes));
    frame_budget_ = stack_frame_budget(bytes.size());
    VESTA_TRY(json_.open(kFormat, bytes));
    VESTA_TRY(read_shared());
    VESTA_TRY(read_profiles());
    finish();
    return std::move(batch_);
  }

 private:
  // First pass: what the profiles refer to may stand after them.
  Status read_shared() {
    ondemand::object root;
    if (!json_.root(root)) return error_at("(top level)", "not a JSON object", kSyntaxHint);
    bool has_schema = false;
    bool has_shared = false;
    for (auto result : root) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error("(top level)");
      if (field.key() == "$schema") {
        ondemand::raw_json_string schema;
        has_schema = field.value().get_raw_json_string().get(schema) == simdjson::SUCCESS &&
                     schema == kSchema;
        if (!has_schema) return wrong_schema();
      } else if (field.key() == "activeProfileIndex") {
        active_ = json_integer(field.value()).value_or(-1);
      } else if (field.key() == "shared" && !has_shared) {
        VESTA_TRY(read_frames(field.value()));
        has_shared = true;
      }
    }
    if (!has_schema) return wrong_schema();
    if (!has_shared) return error_at("shared", "missing");
    return {};
  }

  static Error wrong_schema() {
    return error_at("$schema", fmt::format("must be \"{}\"", kSchema),
                    "the file is of another format, or not from speedscope");
  }

  Status read_frames(ondemand::value shared_value) {
    ondemand::object shared;
    if (shared_value.get_object().get(shared)) return error_at("shared", "not an object");
    for (auto result : shared) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error("shared");
      if (!(field.key() == "frames")) continue;
      ondemand::array frames;
      if (field.value().get_array().get(frames)) return error_at("shared.frames", "not an array");
      for (auto item : frames) {
        ondemand::object frame;
        const std::string path = fmt::format("shared.frames[{}]", frames_.size());
        if (item.get_object().get(frame)) return error_at(path, "not an object", kSyntaxHint);
        VESTA_TRY(read_frame(path, frame));
      }
      return {};
    }
    return error_at("shared.frames", "missing");
  }

  Status read_frame(const std::string& path, ondemand::object& frame) {
    Function function;
    int64_t line = 0;
    int64_t column = 0;
    bool has_name = false;
    for (auto result : frame) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error(path);
      if (field.key() == "name") {
        VESTA_TRY(read_text(path + ".name", field.value(), function.name));
        has_name = true;
      } else if (field.key() == "file") {
        VESTA_TRY(read_text(path + ".file", field.value(), function.file));
      } else if (field.key() == "line") {
        VESTA_TRY(read_position(path + ".line", field.value(), line));
      } else if (field.key() == "col") {
        VESTA_TRY(read_position(path + ".col", field.value(), column));
      }
    }
    if (!has_name) return error_at(path + ".name", "missing");
    function.system_name = function.name;
    const Line one{
        builder_.function(function),
        static_cast<uint32_t>(std::min<int64_t>(column, std::numeric_limits<uint32_t>::max())),
        line};
    frames_.push_back(builder_.location({}, std::span<const Line>(&one, 1)));
    return {};
  }

  // null counts as not given: exporters differ in how they leave things out.
  Status read_text(std::string_view path, ondemand::value value, StringId& id) {
    if (bool null = false; value.is_null().get(null) == simdjson::SUCCESS && null) return {};
    std::string_view text;
    if (value.get_string().get(text)) return error_at(path, "not a string", kSyntaxHint);
    id = builder_.string(names_.clean(text));
    return {};
  }

  static Status read_position(std::string_view path, ondemand::value value, int64_t& position) {
    if (bool null = false; value.is_null().get(null) == simdjson::SUCCESS && null) return {};
    const auto number = json_integer(value);
    if (!number) return error_at(path, "not a whole number");
    position = std::max<int64_t>(0, *number);
    return {};
  }

  Status read_profiles() {
    ondemand::object root;
    if (!json_.root(root)) return syntax_error("(top level)");
    for (auto result : root) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error("(top level)");
      if (!(field.key() == "profiles")) continue;
      ondemand::array profiles;
      if (field.value().get_array().get(profiles)) return error_at("profiles", "not an array");
      int64_t index = 0;
      for (auto item : profiles) {
        Header header;
        header.path = fmt::format("profiles[{}]", index);
        ondemand::object profile;
        if (item.get_object().get(profile)) return error_at(header.path, "not an object");
        VESTA_TRY(read_profile(profile, header));
        if (index == active_) active_kind_ = header.unit.kind;
        ++index;
      }
      if (index == 0) return error_at("profiles", "empty", "the file contains no profiles");
      return {};
    }
    return error_at("profiles", "missing");
  }

  Status read_profile(ondemand::object& profile, Header& header) {
    VESTA_TRY(read_header(profile, header));
    Group& group = groups_[static_cast<size_t>(header.unit.kind)];
    note_range(header, group);
    labels_ = {};
    if (!header.name.empty()) {
      const Label label = builder_.text_label("profile_name", header.name);
      labels_ = builder_.label_set({&label, 1});
    }
    if (header.type == "sampled") return read_sampled(profile, header, group);
    if (header.type == "evented") return read_evented(profile, header, group);
    return error_at(header.path + ".type",
                    fmt::format("unknown type \"{}\"", names_.clean(header.type)),
                    "known types are sampled and evented");
  }

  Status read_header(ondemand::object& profile, Header& header) {
    bool has_unit = false;
    for (auto result : profile) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error(header.path);
      std::string_view text;
      if (field.key() == "type") {
        if (field.value().get_string().get(text)) {
          return error_at(header.path + ".type", "not a string");
        }
        header.type = text.substr(0, 100);
      } else if (field.key() == "name") {
        StringId name;
        VESTA_TRY(read_text(header.path + ".name", field.value(), name));
        header.name = batch_.dictionary.string(name);
      } else if (field.key() == "unit") {
        if (field.value().get_string().get(text)) {
          return error_at(header.path + ".unit", "not a string");
        }
        const auto unit = parse_speedscope_unit(text);
        if (!unit) {
          return error_at(header.path + ".unit", "unknown unit",
                          "known units are none, nanoseconds, microseconds, milliseconds, seconds "
                          "and bytes");
        }
        header.unit = *unit;
        has_unit = true;
      } else if (field.key() == "startValue") {
        header.start = json_number(field.value());
      } else if (field.key() == "endValue") {
        header.end = json_number(field.value());
      }
    }
    if (header.type.empty()) return error_at(header.path + ".type", "missing");
    if (!has_unit) return error_at(header.path + ".unit", "missing");
    return {};
  }

  static void note_range(const Header& header, Group& group) {
    const double factor = static_cast<double>(header.unit.to_base);
    if (header.start && header.end) {
      const double start = header.start->real * factor;
      const double end = header.end->real * factor;
      group.start_ns = group.used ? std::min(group.start_ns, start) : start;
      group.end_ns = group.used ? std::max(group.end_ns, end) : end;
    }
    group.used = true;
  }

  // Gives `array` the field's value. simdjson has one cursor, so arrays are read one after another,
  // each from a fresh look at the profile.
  static Status find_array(ondemand::object& profile, const std::string& profile_path,
                           std::string_view key, ondemand::array& array) {
    const std::string path = fmt::format("{}.{}", profile_path, key);
    if (profile.reset().error()) return syntax_error(profile_path);
    for (auto result : profile) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error(profile_path);
      if (!(field.key() == key)) continue;
      if (field.value().get_array().get(array)) return error_at(path, "not an array", kSyntaxHint);
      return {};
    }
    return error_at(path, "missing");
  }

  Status read_sampled(ondemand::object& profile, const Header& header, Group& group) {
    std::vector<int64_t> weights;
    ondemand::array array;
    VESTA_TRY(find_array(profile, header.path, "weights", array));
    for (auto item : array) {
      const auto path = [&] { return fmt::format("{}.weights[{}]", header.path, weights.size()); };
      ondemand::value value;
      if (item.get(value)) return syntax_error(path());
      const auto number = json_number(value);
      if (!number) return error_at(path(), "not a number", kSyntaxHint);
      if (number->real < 0 && !options_.allow_negative) ++negative_samples_;
      const auto weight = to_base_unit(*number, header.unit.to_base, group.carry);
      if (!weight) return error_at(path(), "the value overflows 64 bits");
      weights.push_back(*weight);
    }

    VESTA_TRY(find_array(profile, header.path, "samples", array));
    size_t index = 0;
    for (auto item : array) {
      const auto path = [&] { return fmt::format("{}.samples[{}]", header.path, index); };
      ondemand::array sample;
      if (item.get_array().get(sample)) return error_at(path(), "not an array", kSyntaxHint);
      stack_.clear();
      for (auto frame_item : sample) {
        ondemand::value frame_value;
        if (frame_item.get(frame_value)) return syntax_error(path());
        const auto frame = frame_index(frame_value);
        if (!frame) return bad_frame(fmt::format("{}[{}]", path(), stack_.size()));
        stack_.push_back(frames_[*frame]);
      }
      if (index >= weights.size()) {
        return error_at(path(), fmt::format("there are only {} weights", weights.size()),
                        "samples and weights must have the same length");
      }
      VESTA_TRY(add_sample(group, weights[index]));
      ++index;
    }
    if (index < weights.size()) {
      return error_at(fmt::format("{}.weights", header.path),
                      fmt::format("{} weights for {} samples", weights.size(), index),
                      "samples and weights must have the same length");
    }
    return {};
  }

  Status read_evented(ondemand::object& profile, const Header& header, Group& group) {
    ondemand::array events;
    VESTA_TRY(find_array(profile, header.path, "events", events));
    stack_.clear();
    open_.clear();
    std::optional<JsonNumber> last;
    size_t index = 0;
    for (auto item : events) {
      const auto path = [&] { return fmt::format("{}.events[{}]", header.path, index); };
      ondemand::object object;
      if (item.get_object().get(object)) return error_at(path(), "not an object", kSyntaxHint);
      Event event;
      VESTA_TRY(read_event(path, object, event));
      if (last) {
        const auto span = difference(event.at, *last);
        if (span && span->real < 0) {
          return error_at(path() + ".at",
                          fmt::format("{} is before the event at {}", event.at.real, last->real),
                          "events must be in chronological order");
        }
        std::optional<int64_t> value;
        if (span) value = to_base_unit(*span, header.unit.to_base, group.carry);
        if (!value) return error_at(path() + ".at", "the value overflows 64 bits");
        // Between two calls from outside nothing runs: an empty stack has no time of its own.
        if (*value != 0 && !stack_.empty()) VESTA_TRY(add_sample(group, *value));
      }
      last = event.at;
      if (event.opens) {
        open_.push_back(event.frame);
        stack_.push_back(frames_[event.frame]);
      } else {
        if (open_.empty() || open_.back() != event.frame) {
          return error_at(path(),
                          open_.empty()
                              ? fmt::format("closes frame {} while none is open", event.frame)
                              : fmt::format("closes frame {} while frame {} is on top of the stack",
                                            event.frame, open_.back()),
                          "frames must be closed in the reverse order of opening");
        }
        open_.pop_back();
        stack_.pop_back();
      }
      ++index;
    }
    if (!open_.empty()) {
      return error_at(fmt::format("{}.events", header.path),
                      fmt::format("{} frames are still open after event {}, the last one",
                                  open_.size(), index - 1),
                      "the trace is incomplete: the program that records it must close all frames");
    }
    return {};
  }

  struct Event {
    bool opens = false;
    uint32_t frame = 0;
    JsonNumber at;
  };

  template <class Path>
  Status read_event(Path&& path, ondemand::object& object, Event& event) {
    bool has_type = false;
    bool has_frame = false;
    bool has_at = false;
    for (auto result : object) {
      ondemand::field field;
      if (std::move(result).get(field)) return syntax_error(path());
      if (field.key() == "type") {
        ondemand::raw_json_string type;
        if (field.value().get_raw_json_string().get(type) || !(type == "O" || type == "C")) {
          return error_at(path() + ".type", "neither \"O\" (open) nor \"C\" (close)");
        }
        event.opens = type == "O";
        has_type = true;
      } else if (field.key() == "frame") {
        const auto frame = frame_index(field.value());
        if (!frame) return bad_frame(path() + ".frame");
        event.frame = *frame;
        has_frame = true;
      } else if (field.key() == "at") {
        const auto at = json_number(field.value());
        if (!at) return error_at(path() + ".at", "not a number");
        event.at = *at;
        has_at = true;
      }
    }
    if (!has_type) return error_at(path() + ".type", "missing", kSyntaxHint);
    if (!has_frame) return error_at(path() + ".frame", "missing", kSyntaxHint);
    if (!has_at) return error_at(path() + ".at", "missing", kSyntaxHint);
    return {};
  }

  std::optional<uint32_t> frame_index(ondemand::value value) const {
    const auto index = json_integer(value);
    if (!index || *index < 0 || static_cast<uint64_t>(*index) >= frames_.size()) return {};
    return static_cast<uint32_t>(*index);
  }

  Error bad_frame(std::string_view path) const {
    return error_at(path, fmt::format("not the index of one of the {} frames", frames_.size()));
  }

  // `stack_` is root first, as in the file; a cut keeps the leaf.
  Status add_sample(Group& group, int64_t value) {
    size_t depth = stack_.size();
    if (depth > options_.max_stack_depth) {
      depth = options_.max_stack_depth;
      names_.count_cut_stack();
    }
    leaf_first_.assign(stack_.rbegin(), stack_.rbegin() + static_cast<std::ptrdiff_t>(depth));
    group.table.add(builder_.stack(leaf_first_), value, labels_);
    if (batch_.dictionary.stacks.item_count() > frame_budget_) {
      return limit_error(kFormat, "number of frames in all stacks", frame_budget_);
    }
    size_t rows = 0;
    for (const Group& each : groups_) rows += each.table.size();
    if (rows > options_.max_samples) {
      return limit_error(kFormat, "number of samples", options_.max_samples);
    }
    return {};
  }

  void finish() {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTypes = {
        {{"time", "nanoseconds"}, {"space", "bytes"}, {"samples", "count"}}};
    std::array<size_t, 3> order = {0, 1, 2};
    if (active_kind_) std::swap(order[0], order[static_cast<size_t>(*active_kind_)]);
    for (const size_t kind : order) {
      Group& group = groups_[kind];
      if (!group.used) continue;
      Profile profile;
      const auto [type, unit] = kTypes[kind];
      profile.sample_types.push_back(
          {builder_.string(type), builder_.string(unit), temporality_of(type)});
      const double duration = group.end_ns - group.start_ns;
      if (kind == static_cast<size_t>(SpeedscopeKind::kTime) && duration > 0 && duration < 9e18) {
        profile.duration_ns = static_cast<int64_t>(duration);
      }
      profile.samples = group.table.finish();
      if (batch_.profiles.empty()) {
        names_.add_losses(profile, builder_);
        profile.add_loss(builder_.string(kLossNegative), negative_samples_);
        if (json_.repairs() > 0) {
          profile.add_loss(builder_.string(kLossInvalidUtf8), json_.repairs());
        }
      }
      batch_.profiles.push_back(std::move(profile));
    }
  }

  const ReadOptions& options_;
  ProfileBatch batch_;
  DictionaryBuilder builder_;
  NameCleaner names_;
  uint64_t negative_samples_ = 0;
  JsonDocument json_;
  size_t frame_budget_ = 0;
  int64_t active_ = -1;
  std::optional<SpeedscopeKind> active_kind_;
  std::vector<LocationId> frames_;  // by index in shared.frames
  std::array<Group, 3> groups_;     // by SpeedscopeKind
  LabelSetId labels_;               // of the profile being read
  std::vector<LocationId> stack_;
  std::vector<uint32_t> open_;  // indices of the frames on stack_
  std::vector<LocationId> leaf_first_;
};

}  // namespace

bool looks_like_speedscope(std::string_view bytes) {
  if (!starts_like_json_object(bytes)) return false;
  return memmem(bytes.data(), bytes.size(), kSchema.data(), kSchema.size()) != nullptr;
}

Result<ProfileBatch> read_speedscope(std::string_view bytes, const ReadOptions& options) {
  return Reader(options).read(bytes);
}

}  // namespace vesta
