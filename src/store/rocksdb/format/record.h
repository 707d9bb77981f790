// One stored profile, or the sum of many, as bytes: README.md has the layout. Encoding is
// canonical, so that the hash of the bytes tells contents apart. Bytes that are read are trusted in
// nothing. Pure functions over plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/leb128.h"
#include "profile/dictionary.h"
#include "profile/profile.h"
#include "store/covered_time.h"
#include "store/stack_tree.h"

namespace vesta::rocks {

using LabelSetNumber = uint32_t;  // of the partition; 0 is the empty one

// What tells two samples of a profile apart, in the order that they are stored in.
struct RowKey {
  StackNumber stack;
  LabelSetNumber labels = 0;
  Link link;
  int64_t time_ns = 0;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};
struct Row {
  RowKey key;
  int64_t value = 0;
};

using LossList = std::vector<std::pair<std::string, uint64_t>>;  // by reason, each once

struct RecordHeader {
  bool is_rollup = false;
  uint64_t profiles = 1;
  int64_t first_ns = 0;  // of roll-ups alone: a profile has its time in the key
  int64_t last_ns = 0;
  int64_t duration_ns = 0;  // of a roll-up: of whole profiles
  int64_t period = 0;
  LossList losses;
  PieceOrigin origin = 0;            // of a profile
  std::vector<ProfilePiece> pieces;  // of a roll-up, in order, each once
};

// REQUIRES: rows are sorted by key, each key once, no value 0. `base_ns` is what times count from.
std::string encode_record(const RecordHeader& header, const std::vector<Row>& rows,
                          int64_t base_ns);
// The plain case: weights by stack number, zeros left out.
std::string encode_rollup(const RecordHeader& header, const std::vector<int64_t>& weights);

// A record that was taken apart as far as its columns.
class RecordView {
 public:
  // false when the bytes are no record.
  bool parse(std::string_view bytes);

  const RecordHeader& header() const { return header_; }
  size_t row_count() const { return rows_; }
  bool has_labels() const { return (flags_ & kHasLabels) != 0; }
  bool has_links() const { return (flags_ & kHasLinks) != 0; }
  bool has_times() const { return (flags_ & kHasTimes) != 0; }
  bool is_plain() const { return (flags_ & (kHasLabels | kHasLinks | kHasTimes)) == 0; }

  // Calls add(stack, value) for every row; false when the columns are damaged, or when a stack is
  // not below the limit.
  template <class Add>
  bool for_each_weight(uint64_t stack_limit, Add&& add) const {
    VarintReader stacks(stacks_);
    VarintReader values(rest_);
    uint64_t stack = 0;
    for (size_t i = 0; i < rows_; ++i) {
      stack += stacks.varint();
      if (stack >= stack_limit) return false;
      add(StackNumber(stack), value_of(values.varint()));
    }
    return stacks.ok() && stacks.at_end() && values.ok();
  }

  // All columns; false as above. `rows` is replaced.
  bool read_rows(uint64_t stack_limit, int64_t base_ns, std::vector<Row>& rows) const;

 private:
  friend std::string encode_record(const RecordHeader&, const std::vector<Row>&, int64_t);
  friend std::string encode_rollup(const RecordHeader&, const std::vector<int64_t>&);
  static constexpr uint8_t kVersion = 1;
  static constexpr uint8_t kIsSigned = 1;
  static constexpr uint8_t kHasLosses = 2;
  static constexpr uint8_t kHasLabels = 4;
  static constexpr uint8_t kHasLinks = 8;
  static constexpr uint8_t kHasTimes = 16;
  static constexpr uint8_t kIsRollup = 32;
  static constexpr uint8_t kHasPieces = 64;

  static void put_header(std::string& out, const RecordHeader& header, uint8_t flags,
                         uint64_t scale);
  int64_t value_of(uint64_t stored) const {
    const uint64_t count =
        (flags_ & kIsSigned) != 0 ? static_cast<uint64_t>(unzigzag(stored)) : stored;
    return static_cast<int64_t>(count * scale_);
  }

  RecordHeader header_;
  uint8_t flags_ = 0;
  uint64_t scale_ = 1;
  size_t rows_ = 0;
  std::string_view stacks_;
  std::string_view rest_;  // values, then optional columns
};

}  // namespace vesta::rocks
