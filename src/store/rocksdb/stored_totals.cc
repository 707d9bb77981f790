#include "store/rocksdb/stored_totals.h"

#include "store/selection.h"

namespace vesta::rocks {
namespace {

constexpr uint8_t kVersion = 1;

}  // namespace

std::string encode_hour_totals(Hour hour, const std::vector<TimedTotal>& totals) {
  int64_t sum = 0;
  for (const TimedTotal& total : totals) sum = saturating_add(sum, total.value);
  std::string out(1, static_cast<char>(kVersion));
  put_varint(out, totals.size());
  put_signed(out, sum);
  auto last = static_cast<uint64_t>(bucket_start_ns(hour, kHourNs));
  for (const TimedTotal& total : totals) {
    const auto time = static_cast<uint64_t>(total.time_ns);
    put_varint(out, time - last);
    put_signed(out, total.value);
    last = time;
  }
  return out;
}

std::string encode_day_totals(Day day, const std::vector<HourSum>& hours) {
  std::string out(1, static_cast<char>(kVersion));
  put_varint(out, hours.size());
  for (const HourSum& hour : hours) {
    out.push_back(static_cast<char>(hour.hour - first_hour_of(day)));
    put_varint(out, hour.sum.profiles);
    put_signed(out, hour.sum.sum);
  }
  return out;
}

bool decode_day_totals(std::string_view bytes, Day day, std::vector<HourSum>& hours) {
  VarintReader reader(bytes);
  hours.clear();
  if (reader.byte() != kVersion) return false;
  const uint64_t count = reader.varint();
  if (count > 24) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t hour = reader.byte();
    if (hour >= 24) return false;
    HourSum& out = hours.emplace_back();
    out.hour = first_hour_of(day) + hour;
    out.sum.profiles = reader.varint();
    out.sum.sum = reader.signed_varint();
  }
  return reader.ok() && reader.at_end();
}

bool HourTotals::parse(std::string_view bytes, Hour hour) {
  VarintReader reader(bytes);
  if (reader.byte() != kVersion) return false;
  sum_.profiles = reader.varint();
  sum_.sum = reader.signed_varint();
  start_ns_ = bucket_start_ns(hour, kHourNs);
  entries_ = bytes.substr(bytes.size() - reader.remaining());
  return reader.ok() && sum_.profiles <= entries_.size();
}

}  // namespace vesta::rocks
