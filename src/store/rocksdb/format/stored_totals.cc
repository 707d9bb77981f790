#include "store/rocksdb/format/stored_totals.h"

#include <algorithm>

#include "base/time.h"
#include "store/selection.h"
#include "store/time_spread.h"

namespace vesta::rocks {
namespace {

// Sums alone, by the start of profiles.
constexpr uint8_t kTotalsVersionBefore = 1;
constexpr uint8_t kTotalsVersion = 2;
// Of an hour: a client that leaves gaps has more, and its profiles are looked at one by one.
constexpr size_t kMostRanges = 4;

HourSummary summary_of(Hour hour, const std::vector<TimedTotal>& totals) {
  HourSummary out;
  out.hour = hour;
  out.profiles = totals.size();
  const TimeRange whole{bucket_start_ns(hour, kHour), bucket_end_ns(hour, kHour)};
  out.end_ns = whole.end_ns;
  TimeCover cover;
  for (const TimedTotal& total : totals) {
    out.sum = saturating_add(out.sum, total.value);
    const TimeRange covered = spread_range(total.time_ns, total.duration_ns);
    out.inside = saturating_add(
        out.inside, covered.empty() ? total.value : part_of(total.value, covered, whole));
    out.end_ns = std::max(out.end_ns, covered.end_ns);
    cover.add(covered);
  }
  out.has_spread = cover.ranges().size() <= kMostRanges;
  if (out.has_spread) out.covered = cover.ranges();
  return out;
}

uint64_t distance(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}
int64_t after(int64_t from, uint64_t by) {
  return static_cast<int64_t>(static_cast<uint64_t>(from) + by);
}

void put_summary(std::string& out, const HourSummary& summary) {
  put_varint(out, summary.profiles);
  put_signed(out, summary.sum);
  // 0: not known.
  put_varint(out, summary.has_spread ? summary.covered.size() + 1 : 0);
  if (!summary.has_spread) return;
  put_signed(out, summary.inside);
  put_varint(out, distance(bucket_end_ns(summary.hour, kHour), summary.end_ns));
  int64_t last = bucket_start_ns(summary.hour, kHour);
  for (const TimeRange& range : summary.covered) {
    put_varint(out, distance(last, range.start_ns));
    put_varint(out, distance(range.start_ns, range.end_ns));
    last = range.end_ns;
  }
}

bool read_summary(VarintReader& reader, uint8_t version, HourSummary& summary) {
  summary.profiles = reader.varint();
  summary.sum = reader.signed_varint();
  if (version == kTotalsVersionBefore) return reader.ok();
  const uint64_t ranges = reader.varint();
  if (ranges > kMostRanges + 1) return false;
  summary.has_spread = ranges != 0;
  if (ranges == 0) return reader.ok();
  summary.inside = reader.signed_varint();
  summary.end_ns = after(bucket_end_ns(summary.hour, kHour), reader.varint());
  int64_t last = bucket_start_ns(summary.hour, kHour);
  for (uint64_t i = 1; i < ranges; ++i) {
    const int64_t start = after(last, reader.varint());
    last = after(start, reader.varint());
    if (start >= last) return false;
    summary.covered.push_back({start, last});
  }
  return reader.ok();
}

bool is_version(uint8_t version) {
  return version == kTotalsVersion || version == kTotalsVersionBefore;
}

}  // namespace

std::string encode_hour_totals(Hour hour, const std::vector<TimedTotal>& totals) {
  std::string out(1, static_cast<char>(kTotalsVersion));
  put_summary(out, summary_of(hour, totals));
  TimedTotal last;
  last.time_ns = bucket_start_ns(hour, kHour);
  for (const TimedTotal& total : totals) {
    put_varint(out, distance(last.time_ns, total.time_ns));
    put_signed(out, total.value);
    put_signed(out, after(total.duration_ns, -static_cast<uint64_t>(last.duration_ns)));
    last = total;
  }
  return out;
}

std::string encode_day_totals(Day day, const std::vector<HourSummary>& hours) {
  std::string out(1, static_cast<char>(kTotalsVersion));
  put_varint(out, hours.size());
  for (const HourSummary& hour : hours) {
    out.push_back(static_cast<char>(hour.hour - first_hour_of(day)));
    put_summary(out, hour);
  }
  return out;
}

bool decode_day_totals(std::string_view bytes, Day day, std::vector<HourSummary>& hours) {
  VarintReader reader(bytes);
  hours.clear();
  const uint8_t version = reader.byte();
  if (!is_version(version)) return false;
  const uint64_t count = reader.varint();
  if (count > 24) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t hour = reader.byte();
    if (hour >= 24) return false;
    HourSummary& out = hours.emplace_back();
    out.hour = first_hour_of(day) + hour;
    if (!read_summary(reader, version, out)) return false;
  }
  return reader.ok() && reader.at_end();
}

bool HourTotals::parse(std::string_view bytes, Hour hour) {
  VarintReader reader(bytes);
  const uint8_t version = reader.byte();
  if (!is_version(version)) return false;
  summary_ = {};
  summary_.hour = hour;
  has_durations_ = version == kTotalsVersion;
  if (!read_summary(reader, version, summary_)) return false;
  entries_ = bytes.substr(bytes.size() - reader.remaining());
  return summary_.profiles <= entries_.size();
}

}  // namespace vesta::rocks
