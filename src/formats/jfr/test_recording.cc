#include "formats/jfr/test_recording.h"

#include <algorithm>

namespace vesta::jfr {

namespace {

constexpr int64_t kHeaderBytes = 68;
constexpr int64_t kFirstTypeId = 20;

void append_big_endian(std::string& out, uint64_t value, int width) {
  for (int i = width - 1; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

Encoder& Encoder::raw_byte(int value) {
  bytes_.push_back(static_cast<char>(value));
  return *this;
}

Encoder& Encoder::integer(int64_t value, int width) {
  auto bits = static_cast<uint64_t>(value);
  if (width < 8) bits &= (uint64_t{1} << (8 * width)) - 1;
  if (!compressed_) {
    append_big_endian(bytes_, bits, width);
    return *this;
  }
  for (int i = 0; i < 8 && bits >= 0x80; ++i, bits >>= 7) raw_byte(static_cast<int>(bits | 0x80));
  return raw_byte(static_cast<int>(bits));
}

Encoder& Encoder::utf8(std::string_view text) {
  raw_byte(3).int_(static_cast<int64_t>(text.size()));
  bytes_ += text;
  return *this;
}

Encoder& Encoder::latin1(std::string_view text) {
  raw_byte(5).int_(static_cast<int64_t>(text.size()));
  bytes_ += text;
  return *this;
}

Encoder& Encoder::chars(std::u16string_view text) {
  raw_byte(4).int_(static_cast<int64_t>(text.size()));
  for (const char16_t unit : text) short_(unit);
  return *this;
}

Encoder& Encoder::append(const std::string& bytes) {
  bytes_ += bytes;
  return *this;
}

TestChunk::TestChunk(bool compressed) : compressed_(compressed) {
  for (const char* name : {"boolean", "byte", "char", "short", "int", "long", "float", "double",
                           "java.lang.String", "jdk.jfr.Timespan"}) {
    type(name, {});
  }
  type("jdk.types.Symbol", {{"string", "java.lang.String"}});
  // As in a JDK, classes and their loaders refer to each other.
  type("java.lang.Class", {{"classLoader", "jdk.types.ClassLoader", true},
                           {"name", "jdk.types.Symbol", true},
                           {"modifiers", "int"}});
  type("jdk.types.ClassLoader",
       {{"type", "java.lang.Class", true}, {"name", "jdk.types.Symbol", true}});
  type("jdk.types.Method", {{"type", "java.lang.Class", true},
                            {"name", "jdk.types.Symbol", true},
                            {"descriptor", "jdk.types.Symbol", true},
                            {"modifiers", "int"},
                            {"hidden", "boolean"}});
  type("jdk.types.FrameType", {{"description", "java.lang.String"}});
  type("jdk.types.StackFrame", {{"method", "jdk.types.Method", true},
                                {"lineNumber", "int"},
                                {"bytecodeIndex", "int"},
                                {"type", "jdk.types.FrameType", true}});
  type("jdk.types.StackTrace",
       {{"truncated", "boolean"}, {"frames", "jdk.types.StackFrame", false, true}});
  type("java.lang.Thread", {{"osName", "java.lang.String"},
                            {"osThreadId", "long"},
                            {"javaName", "java.lang.String"},
                            {"javaThreadId", "long"}});
  type("jdk.types.ThreadState", {{"name", "java.lang.String"}});
  type("jdk.ActiveSetting", {{"startTime", "long"},
                             {"id", "long"},
                             {"name", "java.lang.String"},
                             {"value", "java.lang.String"}});
  type("jdk.ActiveRecording", {});
  type("jdk.ExecutionSample", {{"startTime", "long"},
                               {"sampledThread", "java.lang.Thread", true},
                               {"stackTrace", "jdk.types.StackTrace", true},
                               {"state", "jdk.types.ThreadState", true}});
  int64_t frame_type = 1;
  for (const char* name :
       {"Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled"}) {
    constant("jdk.types.FrameType", frame_type++, encoder().utf8(name).take());
  }
}

int64_t TestChunk::type(const std::string& name, std::vector<TestField> fields) {
  const auto id = kFirstTypeId + static_cast<int64_t>(types_.size());
  types_.push_back({id, name, std::move(fields)});
  ids_[name] = id;
  return id;
}

int64_t TestChunk::type_id(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? 0 : found->second;
}

void TestChunk::constant(const std::string& type, int64_t id, std::string fields) {
  constants_.push_back({type, id, std::move(fields)});
}

void TestChunk::event(const std::string& type, const std::string& fields) {
  records_ += record(type_id(type), fields);
}

int64_t TestChunk::symbol(std::string_view text) {
  constant("jdk.types.Symbol", next_constant_, encoder().utf8(text).take());
  return next_constant_++;
}

int64_t TestChunk::class_(std::string_view name) {
  const int64_t name_id = symbol(name);
  constant("java.lang.Class", next_constant_, encoder().long_(1).long_(name_id).int_(1).take());
  return next_constant_++;
}

int64_t TestChunk::method(std::string_view class_name, std::string_view name,
                          std::string_view descriptor) {
  const int64_t class_id = class_(class_name);
  const int64_t name_id = symbol(name);
  const int64_t descriptor_id = symbol(descriptor);
  constant(
      "jdk.types.Method", next_constant_,
      encoder().long_(class_id).long_(name_id).long_(descriptor_id).int_(1).boolean(false).take());
  return next_constant_++;
}

int64_t TestChunk::stack(const std::vector<TestFrame>& leaf_first, bool truncated) {
  Encoder fields = encoder();
  fields.boolean(truncated).int_(static_cast<int64_t>(leaf_first.size()));
  for (const TestFrame& frame : leaf_first)
    fields.long_(frame.method).int_(frame.line).int_(7).long_(frame.frame_type);
  constant("jdk.types.StackTrace", next_constant_, fields.take());
  return next_constant_++;
}

int64_t TestChunk::thread(std::string_view java_name, std::string_view os_name) {
  Encoder fields = encoder();
  fields.utf8(os_name).long_(77);
  if (java_name.empty()) {
    fields.null_text();
  } else {
    fields.utf8(java_name);
  }
  constant("java.lang.Thread", next_constant_, fields.long_(7).take());
  return next_constant_++;
}

int64_t TestChunk::string(std::string_view text) {
  constant("java.lang.String", next_constant_, encoder().utf8(text).take());
  return next_constant_++;
}

int64_t TestChunk::state(std::string_view name) {
  constant("jdk.types.ThreadState", next_constant_, encoder().utf8(name).take());
  return next_constant_++;
}

void TestChunk::setting(const std::string& event_name, std::string_view name,
                        std::string_view value) {
  event("jdk.ActiveSetting",
        encoder().long_(1000).long_(type_id(event_name)).utf8(name).utf8(value).take());
}

void TestChunk::execution_sample(int64_t ticks, int64_t thread_id, int64_t stack_id,
                                 int64_t state_id) {
  event("jdk.ExecutionSample",
        encoder().long_(ticks).long_(thread_id).long_(stack_id).long_(state_id).take());
}

// The size counts itself: with compressed integers it takes four bytes in any case, as in a JDK.
std::string TestChunk::record(int64_t type_id, const std::string& fields) const {
  const std::string body = encoder().long_(type_id).take() + fields;
  std::string out;
  const size_t size = body.size() + 4;
  if (!compressed_) {
    append_big_endian(out, size, 4);
  } else {
    for (int i = 0; i < 3; ++i) out.push_back(static_cast<char>((size >> (7 * i) & 0x7f) | 0x80));
    out.push_back(static_cast<char>(size >> 21 & 0x7f));
  }
  return out + body;
}

std::string TestChunk::metadata() const {
  std::vector<std::string> strings;
  std::map<std::string, int64_t> known;
  const auto text = [&](const std::string& value) {
    const auto [at, added] = known.emplace(value, static_cast<int64_t>(strings.size()));
    if (added) strings.push_back(value);
    return at->second;
  };
  const std::string timespan_id = std::to_string(type_id("jdk.jfr.Timespan"));
  Encoder tree = encoder();
  const auto attribute = [&](const std::string& key, const std::string& value) {
    tree.int_(text(key)).int_(text(value));
  };
  tree.int_(text("root")).int_(0).int_(1);
  tree.int_(text("metadata")).int_(0).int_(static_cast<int64_t>(types_.size()));
  for (const Type& type : types_) {
    tree.int_(text("class")).int_(2);
    attribute("id", std::to_string(type.id));
    attribute("name", type.name);
    tree.int_(static_cast<int64_t>(type.fields.size()));
    for (const TestField& field : type.fields) {
      tree.int_(text("field")).int_(2 + field.constant_pool + field.is_array);
      attribute("name", field.name);
      attribute("class", std::to_string(type_id(field.type)));
      if (field.constant_pool) attribute("constantPool", "true");
      if (field.is_array) attribute("dimension", "1");
      tree.int_(field.timespan.empty() ? 0 : 1);
      if (field.timespan.empty()) continue;
      tree.int_(text("annotation")).int_(2);
      attribute("class", timespan_id);
      attribute("value", field.timespan);
      tree.int_(0);
    }
  }
  Encoder fields = encoder();
  fields.long_(1000).long_(0).long_(1).int_(static_cast<int64_t>(strings.size()));
  for (const std::string& value : strings) fields.utf8(value);
  return record(0, fields.append(tree.bytes()).take());
}

std::string TestChunk::checkpoint(const std::vector<Constant>& constants, int64_t delta) const {
  std::map<std::string, std::vector<const Constant*>> pools;
  for (const Constant& constant : constants) pools[constant.type].push_back(&constant);
  Encoder fields = encoder();
  fields.long_(1000).long_(0).long_(delta).raw_byte(0).int_(static_cast<int64_t>(pools.size()));
  for (const auto& [type, list] : pools) {
    fields.long_(type_id(type)).int_(static_cast<int64_t>(list.size()));
    for (const Constant* constant : list) fields.long_(constant->id).append(constant->fields);
  }
  return record(1, fields.take());
}

std::string TestChunk::finish(const ChunkOptions& options) {
  std::string body = records_;
  std::vector<std::vector<Constant>> parts(std::max<size_t>(options.checkpoint_count, 1));
  for (size_t i = 0; i < constants_.size(); ++i) parts[i % parts.size()].push_back(constants_[i]);
  int64_t previous = 0;
  int64_t offset = 0;
  for (const std::vector<Constant>& part : parts) {
    offset = kHeaderBytes + static_cast<int64_t>(body.size());
    int64_t delta = previous == 0 ? 0 : previous - offset;
    // The first checkpoint points on to the second, which points back. The distance is part of
    // what it measures, so it takes some rounds to settle.
    for (int round = 0; round < 3 && previous == 0 && options.checkpoints_in_a_circle; ++round)
      delta = static_cast<int64_t>(checkpoint(part, delta).size());
    body += checkpoint(part, delta);
    previous = offset;
  }
  const int64_t metadata_offset = kHeaderBytes + static_cast<int64_t>(body.size());
  if (!options.omit_metadata) body += metadata();
  std::string out("FLR\0", 4);
  append_big_endian(out, static_cast<uint64_t>(options.major), 2);
  append_big_endian(out, 0, 2);
  append_big_endian(out, static_cast<uint64_t>(kHeaderBytes) + body.size(), 8);
  append_big_endian(out, static_cast<uint64_t>(offset), 8);
  append_big_endian(out, static_cast<uint64_t>(metadata_offset), 8);
  append_big_endian(out, static_cast<uint64_t>(options.start_ns), 8);
  append_big_endian(out, static_cast<uint64_t>(options.duration_ns), 8);
  append_big_endian(out, static_cast<uint64_t>(options.start_ticks), 8);
  append_big_endian(out, static_cast<uint64_t>(options.ticks_per_second), 8);
  append_big_endian(out, static_cast<uint64_t>(options.file_state), 1);
  append_big_endian(out, 0, 2);
  append_big_endian(out, compressed_ ? 1 : 0, 1);
  return out + body;
}

}  // namespace vesta::jfr
