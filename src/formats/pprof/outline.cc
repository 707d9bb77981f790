#include "formats/pprof/outline.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "formats/common/parse_error.h"
#include "formats/pprof/fields.h"
#include "formats/protobuf/wire.h"

namespace vesta::pprof {
namespace {

// The top bit of any byte is set when one of the text is.
uint64_t bits_of(std::string_view text) {
  uint64_t bits = 0;
  size_t at = 0;
  const auto word = [&](size_t offset) {
    uint64_t value = 0;
    std::memcpy(&value, text.data() + at + offset, 8);
    return value;
  };
  for (; at + 32 <= text.size(); at += 32) bits |= word(0) | word(8) | word(16) | word(24);
  for (; at + 8 <= text.size(); at += 8) bits |= word(0);
  for (; at < text.size(); ++at) bits |= static_cast<uint8_t>(text[at]);
  return bits;
}
bool is_ascii(uint64_t bits) {
  return (bits & 0x8080808080808080ull) == 0;
}

// At most `limit` bytes, not cut inside a code point.
std::string_view cut_string(std::string_view text, size_t limit) {
  size_t length = limit;
  while (length > 0 && limit - length < 3 && (static_cast<uint8_t>(text[length]) & 0xC0) == 0x80)
    --length;
  return text.substr(0, length);
}

class Scanner {
 public:
  Scanner(std::string_view bytes, const ReadOptions& options, StringTable& strings)
      : bytes_(bytes), options_(options), strings_(strings) {}

  Result<Outline> run() {
    WireReader reader(bytes_);
    while (reader.next()) {
      if (reader.is(profile::kSample, WireType::kBytes)) {  // by far the most
        if (outline_.sample_count == 0) outline_.samples_begin = reader.offset();
        size_t count = 0;
        size_t bytes = 0;
        reader.bytes_run([&](size_t, std::string_view message) {
          ++count;
          bytes += message.size();
        });
        outline_.sample_count += count;
        outline_.sample_bytes += bytes;
        outline_.samples_end = bytes_.size() - reader.remaining();
        continue;
      }
      if (std::vector<uint32_t>* offsets = table_of(reader)) {
        reader.bytes_run([&](size_t offset, std::string_view) {
          offsets->push_back(static_cast<uint32_t>(offset));
        });
        continue;
      }
      const bool known =
          reader.field() >= profile::kSampleType && reader.field() <= profile::kDocUrl;
      if (!known) {
        reader.skip();
      } else if (reader.type() == WireType::kBytes) {
        VESTA_TRY(bytes_field(reader));
      } else if (reader.type() == WireType::kVarint) {
        VESTA_TRY(varint_field(reader));
      } else {
        return wrong_type(reader);
      }
    }
    if (!reader.ok()) {
      return malformed(reader.offset(), reader.problem(),
                       "the file is cut off or damaged: fetch it again");
    }
    if (outline_.sample_count > options_.max_samples)
      return limit_error("pprof", "number of samples", options_.max_samples);
    if (file_strings_ == 0) {
      return malformed(bytes_.size(), "string_table: missing",
                       "the file is not a pprof profile, or its end is missing");
    }
    return std::move(outline_);
  }

 private:
  // Where to note the offset of a table entry; null for other fields.
  std::vector<uint32_t>* table_of(const WireReader& reader) {
    if (reader.type() != WireType::kBytes) return nullptr;
    switch (reader.field()) {
      case profile::kMapping:
        return &outline_.mappings;
      case profile::kLocation:
        return &outline_.locations;
      case profile::kFunction:
        return &outline_.functions;
      default:
        return nullptr;
    }
  }

  Status bytes_field(WireReader& reader) {
    const uint32_t at = static_cast<uint32_t>(reader.offset());
    switch (reader.field()) {
      case profile::kStringTable:
        return string_run(reader);
      case profile::kSampleType:
        outline_.sample_types.push_back(at);
        break;
      case profile::kPeriodType:
        outline_.period_types.assign(1, at);
        break;
      case profile::kComment:
        outline_.comments.push_back(at);
        break;
      default:
        return wrong_type(reader);
    }
    reader.skip();
    return {};
  }

  Status varint_field(WireReader& reader) {
    const uint32_t at = static_cast<uint32_t>(reader.offset());
    switch (reader.field()) {
      case profile::kDropFrames:
        outline_.drop_frames = {reader.varint(), at};
        return {};
      case profile::kKeepFrames:
        outline_.keep_frames = {reader.varint(), at};
        return {};
      case profile::kTimeNanos:
        outline_.time_ns = reader.int64();
        return {};
      case profile::kDurationNanos:
        outline_.duration_ns = reader.int64();
        return {};
      case profile::kPeriod:
        outline_.period = reader.int64();
        return {};
      case profile::kComment:
        outline_.comments.push_back(at);
        reader.skip();
        return {};
      case profile::kDefaultSampleType:
        outline_.default_sample_type = {reader.varint(), at};
        return {};
      case profile::kDocUrl:
        outline_.doc_url = {reader.varint(), at};
        return {};
      default:
        return wrong_type(reader);
    }
  }

  // Strings stand side by side: a look ahead tells how much room they need, and whether all of them
  // can be taken as they are.
  Status string_run(WireReader& reader) {
    size_t count = 0;
    size_t total = 0;
    size_t longest = 0;
    WireReader ahead = reader;
    // From here on, nothing was looked at but lengths. Short ones are ASCII themselves.
    const char* unseen = nullptr;
    uint64_t bits = 0;
    const char* end = nullptr;
    ahead.bytes_run([&](size_t, std::string_view text) {
      if (unseen == nullptr || text.size() >= 0x80) {
        if (unseen != nullptr) bits |= bits_of({unseen, static_cast<size_t>(end - unseen)});
        unseen = text.data();
      }
      end = text.data() + text.size();
      ++count;
      total += text.size();
      longest = std::max(longest, text.size());
    });
    if (!ahead.ok()) {
      reader = ahead;
      return {};  // run() tells
    }
    bits |= bits_of({unseen, static_cast<size_t>(end - unseen)});
    constexpr uint64_t kMaxBytes = std::numeric_limits<uint32_t>::max();
    const bool plain = is_ascii(bits) && longest <= options_.max_string_bytes &&
                       strings_.byte_size() + total <= kMaxBytes;
    Status status;
    const auto take = [&](auto&& add) {
      reader.bytes_run([&](size_t at, std::string_view text) {
        // The model's table opens with the empty string as well.
        if (file_strings_++ != 0) return add(text);
        if (text.empty()) return;
        status = malformed(at, "string_table[0]: must be the empty string",
                           "the file is not a pprof profile, or was written by a broken tool");
      });
    };
    if (plain) {
      strings_.add_all(count, total, take);
    } else {
      strings_.reserve(strings_.size() + count, strings_.byte_size() + total);
      take([&](std::string_view text) {
        if (status) status = add_string(text);
      });
    }
    return status;
  }

  Status add_string(std::string_view text) {
    if (text.size() > options_.max_string_bytes) {
      text = cut_string(text, options_.max_string_bytes);
      ++outline_.repairs.truncated;
    }
    std::string repaired;
    if (!is_ascii(bits_of(text)) && !is_valid_utf8(text)) {
      repaired = replace_invalid_utf8(text);
      text = repaired;
      ++outline_.repairs.invalid_utf8;
    }
    constexpr uint64_t kMaxBytes = std::numeric_limits<uint32_t>::max();
    if (strings_.byte_size() + text.size() > kMaxBytes)
      return limit_error("pprof", "size of the string table", kMaxBytes);
    strings_.add(text);
    return {};
  }

  static Error wrong_type(const WireReader& reader) {
    return malformed(reader.offset(),
                     fmt::format("field {} of the profile has wire type {}", reader.field(),
                                 static_cast<int>(reader.type())),
                     "the file is not a pprof profile, or is damaged");
  }

  std::string_view bytes_;
  const ReadOptions& options_;
  StringTable& strings_;
  Outline outline_;
  size_t file_strings_ = 0;
};

}  // namespace

Result<Outline> outline_of(std::string_view bytes, const ReadOptions& options,
                           StringTable& strings) {
  return Scanner(bytes, options, strings).run();
}

Error malformed(size_t offset, std::string_view what, std::string_view hint) {
  return parse_error("pprof", offset, what,
                     hint.empty() ? "the file is damaged, or was written by a broken tool" : hint);
}

}  // namespace vesta::pprof
