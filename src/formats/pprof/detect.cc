#include <array>
#include <cstdint>
#include <cstring>

#include "formats/pprof/fields.h"
#include "formats/pprof/reader.h"
#include "formats/protobuf/wire.h"

namespace vesta {
namespace {

namespace profile = pprof::profile;
namespace value_type = pprof::value_type;

// OTLP has messages where ValueType has numbers.
bool is_value_type(WireReader message) {
  while (message.next()) {
    if (message.field() > value_type::kUnit || message.type() != WireType::kVarint) return false;
    message.varint();
  }
  return message.ok();
}

bool is_scalar_field(uint32_t field) {
  switch (field) {
    case profile::kDropFrames:
    case profile::kKeepFrames:
    case profile::kTimeNanos:
    case profile::kDurationNanos:
    case profile::kPeriod:
    case profile::kComment:
    case profile::kDefaultSampleType:
    case profile::kDocUrl:
      return true;
    default:
      return false;
  }
}

template <class Word>
bool is_gperftools_header(std::string_view bytes) {
  // Header count 0, header words 3, version 0, sampling period in microseconds, padding 0.
  std::array<Word, 5> words{};
  if (bytes.size() < sizeof(words)) return false;
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  return words[0] == 0 && words[1] == 3 && words[2] == 0 && words[3] > 0 && words[4] == 0;
}

}  // namespace

bool looks_like_pprof(std::string_view bytes) {
  WireReader reader(bytes);
  bool has_sample_type = false;
  while (reader.next()) {
    const uint32_t field = reader.field();
    if (field > profile::kDocUrl) {
      if (!has_sample_type) return false;
      reader.skip();
    } else if (reader.type() == WireType::kVarint) {
      if (!is_scalar_field(field)) return false;
      reader.varint();
    } else if (reader.type() != WireType::kBytes) {
      return false;
    } else {
      const std::string_view value = reader.bytes();
      if (!reader.ok()) break;
      if (field == profile::kSampleType || field == profile::kPeriodType) {
        if (!is_value_type(WireReader(value))) return false;
        has_sample_type |= field == profile::kSampleType && !value.empty();
      } else if (field == profile::kStringTable) {
        return value.empty();
      } else if (is_scalar_field(field) && field != profile::kComment) {
        return false;
      }
    }
  }
  // Cut off, or damaged further on: the reader will say where. No text and no other format here has
  // the numbers of a ValueType up to this point.
  return has_sample_type;
}

bool looks_like_legacy_pprof(std::string_view bytes) {
  for (const std::string_view start :
       {"heap profile:", "heap_v2/", "heapz_v2/", "--- heapz", "--- heap", "--- contention",
        "--- contentionz", "--- mutex", "--- threadz", "--- Thread", "--- symbol", "--- growth",
        "goroutine profile: total", "threadcreate profile: total"}) {
    if (bytes.starts_with(start)) return true;
  }
  return is_gperftools_header<uint64_t>(bytes) || is_gperftools_header<uint32_t>(bytes);
}

}  // namespace vesta
