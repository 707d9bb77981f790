// Adds records up: weights by stack number in a dense array, and what is said beside them. Not
// shared between threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/rocksdb/format/record.h"
#include "store/selection.h"
#include "store/time_spread.h"

namespace vesta::rocks {

// Everything but the weights.
struct HeaderSum {
  uint64_t profiles = 0;
  int64_t period = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  CoveredTime covered;
  std::map<std::string, uint64_t> losses;

  // `time_ns` is that of a profile; a roll-up has its own.
  void add(const RecordHeader& header, int64_t time_ns) {
    HeaderSum other;
    other.profiles = header.profiles;
    other.period = header.period;
    other.first_ns = header.is_rollup ? header.first_ns : time_ns;
    other.last_ns = header.is_rollup ? header.last_ns : time_ns;
    merge(other);
    if (header.is_rollup) {
      covered.add_whole(header.duration_ns);
      for (const ProfilePiece& piece : header.pieces) covered.add(piece);
    } else {
      covered.add({header.origin, time_ns, header.duration_ns});
    }
    for (const auto& [reason, count] : header.losses) losses[reason] += count;
  }
  // The same of what is taken of a profile.
  void add(const RecordHeader& header, int64_t time_ns, const ProfileCut& cut) {
    if (!cut.cuts()) return add(header, time_ns);
    RecordHeader part = header;
    part.duration_ns = cut.duration_ns();
    add(part, cut.time_ns());
  }
  void add(const HeaderSum& other) {
    merge(other);
    covered.add(other.covered);
    for (const auto& [reason, count] : other.losses) losses[reason] += count;
  }
  RecordHeader rollup() const {
    RecordHeader header;
    header.is_rollup = true;
    header.profiles = profiles;
    header.first_ns = first_ns;
    header.last_ns = last_ns;
    header.duration_ns = covered.whole_ns();
    header.pieces = covered.pieces();
    header.period = period;
    header.losses.assign(losses.begin(), losses.end());
    return header;
  }

 private:
  void merge(const HeaderSum& other) {
    if (other.profiles == 0) return;
    first_ns = profiles == 0 ? other.first_ns : std::min(first_ns, other.first_ns);
    last_ns = profiles == 0 ? other.last_ns : std::max(last_ns, other.last_ns);
    profiles += other.profiles;
    period = std::max(period, other.period);
  }
};

struct Accumulator {
  std::vector<int64_t> weights;  // as long as there are stacks
  HeaderSum header;

  // false when the record is damaged.
  bool add(const RecordView& record, int64_t time_ns) {
    header.add(record.header(), time_ns);
    int64_t* const sums = weights.data();
    return record.for_each_weight(weights.size(), [&](StackNumber stack, int64_t value) {
      sums[stack.index()] = saturating_add(sums[stack.index()], value);
    });
  }
  void clear() {
    std::fill(weights.begin(), weights.end(), 0);
    header = {};
  }
};

}  // namespace vesta::rocks
