// Writes small valid recordings in memory for tests and benchmarks, so that they need no JDK: a
// chunk with the types of a JDK, its constants and any events. Owns what it builds. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vesta::jfr {

// Values as a chunk holds them.
class Encoder {
 public:
  explicit Encoder(bool compressed) : compressed_(compressed) {}

  Encoder& raw_byte(int value);
  Encoder& boolean(bool value) { return raw_byte(value); }
  Encoder& short_(int64_t value) { return integer(value, 2); }
  Encoder& int_(int64_t value) { return integer(value, 4); }
  Encoder& long_(int64_t value) { return integer(value, 8); }
  Encoder& null_text() { return raw_byte(0); }
  Encoder& empty_text() { return raw_byte(1); }
  Encoder& constant_text(int64_t id) { return raw_byte(2).long_(id); }
  Encoder& utf8(std::string_view text);
  Encoder& latin1(std::string_view text);
  Encoder& chars(std::u16string_view text);
  Encoder& append(const std::string& bytes);

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  Encoder& integer(int64_t value, int width);

  std::string bytes_;
  bool compressed_;
};

struct TestField {
  std::string name;
  std::string type;  // "long", "java.lang.Thread"
  bool constant_pool = false;
  bool is_array = false;
  std::string timespan = {};  // "TICKS", "NANOSECONDS": makes a Timespan annotation
};

struct TestFrame {
  int64_t method = 0;
  int line = 0;
  int64_t frame_type = 1;
};

struct ChunkOptions {
  int major = 2;
  int64_t start_ns = 1'700'000'000'000'000'000;
  int64_t duration_ns = 10'000'000'000;
  int64_t start_ticks = 1000;
  int64_t ticks_per_second = 1'000'000'000;
  int file_state = 0;
  bool checkpoints_in_a_circle = false;
  bool omit_metadata = false;
  size_t checkpoint_count = 1;  // constants are dealt out to this many, in a chain
};

class TestChunk {
 public:
  explicit TestChunk(bool compressed = true);

  Encoder encoder() const { return Encoder(compressed_); }

  // Describes a type, an event or a structure; returns its id. A name that is known already gets
  // another description under a new id.
  int64_t type(const std::string& name, std::vector<TestField> fields);
  int64_t type_id(const std::string& name) const;
  // Adds a constant by its encoded fields.
  void constant(const std::string& type, int64_t id, std::string fields);
  // Adds an event by its encoded fields.
  void event(const std::string& type, const std::string& fields);
  // Any bytes in the place of a record.
  void raw_record(std::string_view bytes) { records_ += bytes; }

  // Constants of the usual types; each call makes a new one.
  int64_t symbol(std::string_view text);
  int64_t class_(std::string_view name);
  int64_t method(std::string_view class_name, std::string_view name,
                 std::string_view descriptor = "()V");
  int64_t stack(const std::vector<TestFrame>& leaf_first, bool truncated = false);
  int64_t thread(std::string_view java_name, std::string_view os_name = "");
  int64_t string(std::string_view text);
  int64_t state(std::string_view name);

  // Events whose types come into being with their first use.
  void setting(const std::string& event, std::string_view name, std::string_view value);
  void execution_sample(int64_t ticks, int64_t thread, int64_t stack, int64_t state);

  std::string finish(const ChunkOptions& options = {});

 private:
  struct Type {
    int64_t id;
    std::string name;
    std::vector<TestField> fields;
  };
  struct Constant {
    std::string type;
    int64_t id;
    std::string fields;
  };

  std::string record(int64_t type_id, const std::string& fields) const;
  std::string metadata() const;
  std::string checkpoint(const std::vector<Constant>& constants, int64_t delta) const;

  bool compressed_;
  std::vector<Type> types_;
  std::map<std::string, int64_t> ids_;
  std::vector<Constant> constants_;
  std::string records_;
  int64_t next_constant_ = 1;
};

}  // namespace vesta::jfr
