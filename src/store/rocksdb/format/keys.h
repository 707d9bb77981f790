// The keys of the RocksDB engine: fixed-width, big-endian, so that their order as bytes is the
// order of what they say. README.md has the layout of each. Values, free to copy.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/time.h"

namespace vesta::rocks {

using TenantId = uint32_t;
using SeriesNumber = uint32_t;     // of a tenant; never used again
using PartitionNumber = uint32_t;  // of a tenant: the dictionary of one service; never used again
using TypeNumber = uint32_t;       // of a tenant

// Stretches of time of one length, counted from 1970, moved up by 2^31 so that they sort unsigned.
using Bucket = uint32_t;
using Hour = Bucket;
using Day = Bucket;
inline constexpr uint32_t kBucketBias = uint32_t{1} << 31;
inline constexpr int64_t kTenMinutesNs = 10 * kMinute;

inline constexpr Bucket bucket_of(int64_t time_ns, int64_t width_ns) {
  const int64_t floor = time_ns / width_ns - (time_ns % width_ns < 0 ? 1 : 0);
  return static_cast<Bucket>(floor + kBucketBias);
}
inline constexpr Hour hour_of(int64_t time_ns) {
  return bucket_of(time_ns, kHour);
}
// Where a bucket begins, as near as 64 bits allow.
inline constexpr int64_t bucket_start_ns(uint64_t bucket, int64_t width_ns) {
  int64_t start = 0;
  const int64_t number = static_cast<int64_t>(bucket) - int64_t{kBucketBias};
  if (!__builtin_mul_overflow(number, width_ns, &start)) return start;
  return number < 0 ? INT64_MIN : INT64_MAX;
}
inline constexpr int64_t bucket_end_ns(Bucket bucket, int64_t width_ns) {
  return bucket_start_ns(uint64_t{bucket} + 1, width_ns);
}
inline constexpr Bucket coarser(Bucket bucket, int64_t factor) {
  return bucket_of(static_cast<int64_t>(bucket) - int64_t{kBucketBias}, factor);
}
inline constexpr Day day_of_hour(Hour hour) {
  return coarser(hour, 24);
}
inline constexpr Hour first_hour_of(Day day) {
  return static_cast<Hour>((static_cast<int64_t>(day) - int64_t{kBucketBias}) * 24 +
                           int64_t{kBucketBias});
}

// Bytes on the stack.
class Key {
 public:
  Key& u8(uint8_t value) { return put(value, 1); }
  Key& u32(uint32_t value) { return put(value, 4); }
  Key& u64(uint64_t value) { return put(value, 8); }
  // In order of time, also before 1970.
  Key& time(int64_t time_ns) { return u64(static_cast<uint64_t>(time_ns) ^ (uint64_t{1} << 63)); }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  Key& put(uint64_t value, size_t size) {
    assert(size_ + size <= bytes_.size());
    for (size_t i = 0; i < size; ++i)
      bytes_[size_ + i] = static_cast<char>(value >> (8 * (size - 1 - i)));
    size_ += size;
    return *this;
  }
  std::array<char, 32> bytes_{};
  size_t size_ = 0;
};

// REQUIRES: offset + width <= key.size()
inline uint64_t big_endian(std::string_view key, size_t offset, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<uint8_t>(key[offset + i]);
  return value;
}

// A stored profile, in `raw` and in `totals`.
struct ProfileKey {
  static constexpr size_t kSize = 28;
  TenantId tenant = 0;
  Hour hour = 0;
  SeriesNumber series = 0;
  int64_t time_ns = 0;
  uint64_t content = 0;  // hash of the record

  static Key prefix(TenantId tenant, Hour hour) { return Key().u32(tenant).u32(hour); }
  static Key prefix(TenantId tenant, Hour hour, SeriesNumber series) {
    return prefix(tenant, hour).u32(series);
  }
  Key encode() const { return prefix(tenant, hour, series).time(time_ns).u64(content); }
  // REQUIRES: key.size() == kSize
  static ProfileKey decode(std::string_view key) {
    return {static_cast<TenantId>(big_endian(key, 0, 4)), static_cast<Hour>(big_endian(key, 4, 4)),
            static_cast<SeriesNumber>(big_endian(key, 8, 4)),
            static_cast<int64_t>(big_endian(key, 12, 8) ^ (uint64_t{1} << 63)),
            big_endian(key, 20, 8)};
  }
};

// Sums of profiles. Hours and ten minutes are grouped by day, days by 32 days, so that the buckets
// of one owner lie together and old groups go in one piece.
enum class Level : uint8_t {
  kServiceTenMinutes = 1,
  kSeriesHour = 2,
  kServiceHour = 3,
  kSeriesDay = 4,
  kServiceDay = 5,
  // Of totals (stored_totals.h); the others have stacks.
  kSeriesHourTotals = 6,
  kSeriesDayTotals = 7,
};
inline constexpr std::array kLevelsByDay = {Level::kServiceTenMinutes, Level::kSeriesHour,
                                            Level::kServiceHour, Level::kSeriesHourTotals};
inline constexpr bool is_of_service(Level level) {
  return level == Level::kServiceTenMinutes || level == Level::kServiceHour ||
         level == Level::kServiceDay;
}
inline constexpr int64_t width_ns(Level level) {
  if (level == Level::kServiceTenMinutes) return kTenMinutesNs;
  return level == Level::kSeriesDay || level == Level::kServiceDay ||
                 level == Level::kSeriesDayTotals
             ? kDay
             : kHour;
}
inline constexpr Bucket group_of(Level level, Bucket bucket) {
  const int64_t width = width_ns(level);
  return coarser(bucket, width == kDay ? 32 : kDay / width);
}

struct RollupOwner {
  uint32_t first = 0;   // series, or partition of a service
  uint32_t second = 0;  // type, of a service
};
inline Key rollup_key(TenantId tenant, Level level, RollupOwner owner, Bucket bucket) {
  Key key;
  key.u32(tenant).u8(static_cast<uint8_t>(level)).u32(group_of(level, bucket)).u32(owner.first);
  if (is_of_service(level)) key.u32(owner.second);
  return key.u32(bucket);
}

// Kinds of keys in `meta`.
enum class MetaKind : uint8_t {
  kSchema = 'v',
  kTenant = 't',
  kType = 'y',
  kPartition = 'p',
  kNextNumbers = 'n',
  kWatermark = 'w',
  kDirty = 'd',
  kRetention = 'r',
  kLength = 'l',
};
inline Key meta_key(MetaKind kind) {
  return Key().u8(static_cast<uint8_t>(kind));
}

}  // namespace vesta::rocks
