#include "formats/folded/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/table_hash.h"
#include "base/text.h"
#include "formats/common/line_reader.h"
#include "formats/common/losses.h"
#include "formats/common/name_cleaner.h"
#include "formats/common/parse_error.h"
#include "profile/carried_rounding.h"
#include "profile/dictionary_builder.h"
#include "profile/sample_table.h"

namespace vesta {
namespace {

constexpr std::string_view kFormat = "folded";
constexpr std::string_view kKernelSuffix = "_[k]";
constexpr std::string_view kHint =
    "use lines of frames joined by ';', a space and a number, as in: main;work;sort 42";
constexpr size_t kLinesToLookAt = 20;
constexpr size_t kBytesToLookAt = 1 << 20;

struct Number {
  bool negative = false;
  bool too_large = false;
  uint64_t whole = 0;
  double fraction = 0;
};

// 12, -3, 12.0
std::optional<Number> parse_number(std::string_view text) {
  Number number;
  if (!text.empty() && text.front() == '-') {
    number.negative = true;
    text.remove_prefix(1);
  }
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    const auto digit = static_cast<uint64_t>(text[at] - '0');
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (number.whole > (kMax - digit) / 10) number.too_large = true;
    if (!number.too_large) number.whole = number.whole * 10 + digit;
  }
  if (at == text.size()) return number;
  if (text[at++] != '.') return std::nullopt;
  for (double weight = 0.1; at < text.size(); ++at, weight /= 10) {
    if (!is_digit(text[at])) return std::nullopt;
    number.fraction += weight * (text[at] - '0');
  }
  return number;
}

// Takes the number off the end of `line`; what is left has no trailing blanks.
std::optional<Number> take_number(std::string_view& line) {
  line = trim_right(line);
  const size_t blank = line.find_last_of(" \t");
  if (blank == std::string_view::npos) return std::nullopt;
  const auto number = parse_number(line.substr(blank + 1));
  if (number) line = trim_right(line.substr(0, blank));
  return number;
}

// "# text" and "#text" are comments, "#frame;frame 3" is a stack: some languages have names that
// start with a hash sign.
bool is_comment(std::string_view line) {
  if (line.empty() || line.front() != '#') return false;
  if (line.size() == 1 || line[1] == ' ' || line[1] == '\t') return true;
  return !take_number(line);
}

bool next_stack_line(LineReader& lines, std::string_view& line) {
  while (lines.next(line)) {
    if (!trim(line).empty() && !is_comment(line)) return true;
  }
  return false;
}

// Stops at the first line that has one number only, which is the first line of most files. Damaged
// lines say nothing.
bool is_differential(std::string_view bytes) {
  LineReader lines(bytes);
  std::string_view line;
  bool any = false;
  while (next_stack_line(lines, line)) {
    if (!take_number(line)) continue;
    if (!take_number(line) || trim(line).empty()) return false;
    any = true;
  }
  return any;
}

class Reader {
 public:
  explicit Reader(const ReadOptions& options)
      : options_(options), builder_(batch_.dictionary), names_(options) {}

  Result<ProfileBatch> read(std::string_view bytes) {
    VESTA_TRY(check_input_size(kFormat, bytes, options_.max_decoded_bytes));
    columns_ = is_differential(bytes) ? 2 : 1;
    SampleTable table(columns_);
    LineReader lines(bytes);
    std::string_view line;
    while (next_stack_line(lines, line)) {
      ++lines_;
      if (Status status = read_line(lines.number(), line, table); !status) {
        if (bad_lines_++ == 0) first_problem_ = std::move(status).error();
      }
      if (table.size() > options_.max_samples) {
        return limit_error(kFormat, "number of different stacks", options_.max_samples);
      }
    }
    // A damaged line here and there is a loss; a text that is mostly something else is no profile.
    if (bad_lines_ > lines_ / 2) return std::move(first_problem_);
    if (table.size() == 0) {
      return parse_error_at_line(kFormat, std::max<size_t>(1, lines.number()),
                                 "the input contains no stack", kHint);
    }
    finish(table);
    return std::move(batch_);
  }

 private:
  Status read_line(size_t number, std::string_view line, SampleTable& table) {
    std::array<Number, 2> numbers{};
    for (size_t column = columns_; column-- > 0;) {
      const auto value = take_number(line);
      if (!value)
        return parse_error_at_line(kFormat, number, "the count at the end is missing", kHint);
      if (value->too_large) {
        return parse_error_at_line(kFormat, number, "the count overflows 64 bits");
      }
      numbers[column] = *value;
    }
    std::array<int64_t, 2> values{};
    for (size_t column = 0; column < columns_; ++column) {
      const int64_t sign = numbers[column].negative ? -1 : 1;
      values[column] = sign * static_cast<int64_t>(numbers[column].whole);
      if (numbers[column].fraction != 0) {
        values[column] = saturating_add(
            values[column], carries_[column](static_cast<double>(sign) * numbers[column].fraction));
      }
    }
    if ((numbers[0].negative || numbers[1].negative) && !options_.allow_negative)
      ++negative_samples_;
    // py-spy writes such lines for threads that it found without a frame: they are part of the
    // total.
    const StackId stack = trim(line).empty() ? StackId() : stack_of(line);
    table.add(stack, std::span<const int64_t>(values.data(), columns_));
    return {};
  }

  // The text runs root first, the model leaf first; so does the cut of deep stacks, which keeps the
  // leaf.
  StackId stack_of(std::string_view text) {
    stack_.clear();
    // heaptrack_print ends every frame with a separator, the last one too.
    if (text.size() > 1 && text.ends_with(';')) text.remove_suffix(1);
    for (;;) {
      if (stack_.size() == options_.max_stack_depth) {
        names_.count_cut_stack();
        break;
      }
      const size_t separator = text.rfind(';');
      stack_.push_back(frame_of(text.substr(separator + 1)));
      if (separator == std::string_view::npos) break;
      text = text.substr(0, separator);
    }
    return builder_.stack(stack_);
  }

  LocationId frame_of(std::string_view text) {
    const auto [entry, is_new] = frames_.try_emplace(text);
    if (is_new) {
      FrameKind kind = FrameKind::kUnknown;
      if (text.ends_with(kKernelSuffix)) {
        kind = FrameKind::kKernel;
        text.remove_suffix(kKernelSuffix.size());
      }
      entry->second = builder_.frame(names_.clean(text), {}, 0, kind);
    }
    return entry->second;
  }

  void finish(SampleTable& table) {
    Profile profile;
    const auto add_type = [&](std::string_view name) {
      profile.sample_types.push_back(
          {builder_.string(name), builder_.string("count"), temporality_of(name)});
    };
    if (columns_ == 2) {
      add_type("before");
      add_type("after");
      profile.default_type = 1;
    } else {
      add_type("samples");
    }
    profile.samples = table.finish();
    names_.add_losses(profile, builder_);
    profile.add_loss(builder_.string(kLossUnparsedLine), bad_lines_);
    profile.add_loss(builder_.string(kLossNegative), negative_samples_);
    batch_.profiles.push_back(std::move(profile));
  }

  const ReadOptions& options_;
  ProfileBatch batch_;
  DictionaryBuilder builder_;
  NameCleaner names_;
  size_t columns_ = 1;
  uint64_t lines_ = 0;  // that should be stacks
  uint64_t bad_lines_ = 0;
  Error first_problem_;
  uint64_t negative_samples_ = 0;
  std::array<CarriedRounding, 2> carries_;
  std::unordered_map<std::string_view, LocationId, TableKeyHash>
      frames_;                     // keys point into the input
  std::vector<LocationId> stack_;  // scratch
};

}  // namespace

bool looks_like_folded(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kBytesToLookAt);
  const bool is_cut = head.size() < bytes.size();
  LineReader lines(head);
  std::string_view line;
  size_t seen = 0;
  size_t bad = 0;
  size_t with_stack = 0;
  size_t with_frames = 0;
  while (seen < kLinesToLookAt && next_stack_line(lines, line)) {
    // The last line of a cut head is incomplete and says nothing.
    if (is_cut && line.data() + line.size() == head.data() + head.size()) break;
    if (line.find('\0') != std::string_view::npos) return false;
    ++seen;
    if (!take_number(line)) {
      ++bad;
      continue;
    }
    if (!trim(line).empty()) ++with_stack;
    if (line.find(';') != std::string_view::npos) ++with_frames;
  }
  // Lines of prose end in numbers too, but have no frames.
  if (bad > 0 && (bad * 4 > with_stack || with_frames * 2 < with_stack)) return false;
  // A column of bare numbers is no profile.
  return with_stack > (seen - bad) / 2;
}

Result<ProfileBatch> read_folded(std::string_view bytes, const ReadOptions& options) {
  return Reader(options).read(bytes);
}

}  // namespace vesta
