// What the parts of the OTLP reader share: the dictionary being filled, the place in the message
// for errors, and checked access to fields. Refers to the options and the dictionary, which must
// outlive it. Not thread-safe.
//
// Functions return false once something is wrong; error() says what. The first error stays.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "formats/protobuf/wire.h"
#include "profile/dictionary.h"

namespace vesta::otlp {

// Positions in the tables of a ProfilesDictionary, by field number.
struct TableSizes {
  size_t mappings = 0;
  size_t locations = 0;
  size_t functions = 0;
  size_t links = 0;
  size_t strings = 0;
  size_t attributes = 0;
  size_t stacks = 0;
};

class Decoding {
 public:
  // `from_json`: the bytes were made from JSON, so byte offsets mean nothing to the user.
  Decoding(const ReadOptions& options, Dictionary& dictionary, bool from_json)
      : options_(options), dictionary_(dictionary), from_json_(from_json) {}

  const ReadOptions& options() const { return options_; }
  Dictionary& dictionary() { return dictionary_; }
  bool from_json() const { return from_json_; }
  TableSizes sizes;
  // What index 0 leads to in each table: nothing, as OTLP has it, unless the sender put something
  // there. That has a second place behind all others then.
  TableSizes zero;
  // Set by the reader of an entry 0 that is not empty.
  bool has_zero_entry = false;

  bool failed() const { return failed_; }
  Error take_error() { return std::move(error_); }
  // The error, and reading may go on with a part that does not depend on the one that failed.
  Error recover() {
    failed_ = false;
    return std::exchange(error_, Error());
  }

  // Always false. `field` is added to the place in the message.
  bool fail(size_t offset, std::string_view field, std::string_view what,
            std::string_view hint = {});
  bool fail_limit(std::string_view what, uint64_t limit);
  // False, with an error, when the reader has met malformed bytes.
  bool well_formed(const WireReader& reader);

  // The value of the current field, with its wire type checked.
  bool varint(WireReader& reader, const char* field, uint64_t& out);
  bool fixed64(WireReader& reader, const char* field, uint64_t& out);
  bool bytes(WireReader& reader, const char* field, std::string_view& out);
  bool message(WireReader& reader, const char* field, WireReader& out);
  bool boolean(WireReader& reader, const char* field, bool& out);
  // A time or length that must fit a signed number.
  bool nanoseconds(WireReader& reader, const char* field, bool is_fixed, int64_t& out);
  // Checks that `value` is 0 (not set) or a position in the table.
  bool in_table(const WireReader& reader, const char* field, uint64_t value, size_t table_size,
                const char* table);
  template <class Id>
  bool index(WireReader& reader, const char* field, size_t table_size, const char* table, Id& out,
             size_t zero_entry = 0) {
    uint64_t value = 0;
    if (!varint(reader, field, value) || !in_table(reader, field, value, table_size, table))
      return false;
    out = Id(value == 0 ? zero_entry : value);
    return true;
  }
  // A text that may be left out.
  template <class Id = StringId>
  bool string_index(WireReader& reader, const char* field, Id& out) {
    return index(reader, field, sizes.strings, "string_table", out);
  }
  // A text that must be there: where string 0 is one, index 0 means it.
  template <class Id = StringId>
  bool name_index(WireReader& reader, const char* field, Id& out) {
    return index(reader, field, sizes.strings, "string_table", out, zero.strings);
  }
  // Repeated integers, packed or not; `each` takes the value and returns false to stop.
  template <class Each>
  bool integers(WireReader& reader, const char* field, Each&& each) {
    if (reader.type() == WireType::kVarint) return each(reader.varint()) && well_formed(reader);
    WireReader list;
    if (!message(reader, field, list)) return false;
    while (!list.at_end()) {
      const uint64_t value = list.read_varint();
      if (!list.ok()) return fail(reader.offset(), field, list.problem());
      if (!each(value)) return false;
    }
    return true;
  }

  // The text as it may enter the model: valid UTF-8, of bounded length. What had to be changed is
  // counted. The view stays valid until the next call.
  std::string_view clean(std::string_view text);
  // Whether the string table can take another text of that size; false with an error.
  bool has_room_for(size_t size);
  // The empty string when there is no room; the reading ends with an error then.
  StringId intern(std::string_view text) {
    return has_room_for(text.size()) ? dictionary_.strings.intern(clean(text)) : StringId();
  }
  LabelSetId intern_labels(std::vector<Label>& labels);

  uint64_t replaced_utf8 = 0;
  uint64_t truncated_names = 0;
  uint64_t dropped_units = 0;
  uint64_t original_payloads = 0;
  std::string profile_ids;

  // Names the part of the message being read, for as long as it lives.
  class Part {
   public:
    Part(Decoding& decoding, const char* name, size_t position) : decoding_(decoding) {
      decoding_.path_.push_back({name, position});
    }
    explicit Part(Decoding& decoding, const char* name) : Part(decoding, name, kNoPosition) {}
    ~Part() { decoding_.path_.pop_back(); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Decoding& decoding_;
  };

 private:
  static constexpr size_t kNoPosition = SIZE_MAX;
  struct Step {
    const char* name;
    size_t position;
  };

  std::string path_to(std::string_view field) const;
  bool wrong_type(const WireReader& reader, const char* field, const char* expected);

  const ReadOptions& options_;
  Dictionary& dictionary_;
  bool from_json_;
  bool failed_ = false;
  Error error_;
  std::vector<Step> path_;
  std::string cleaned_;
  IdIndex label_set_index_;
};

}  // namespace vesta::otlp
