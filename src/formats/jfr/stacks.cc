#include "formats/jfr/stacks.h"

#include <array>

#include "formats/jfr/id_map.h"
#include "formats/jfr/metadata.h"
#include "formats/jfr/names.h"

namespace vesta::jfr {

namespace {

enum TraceSlot : uint8_t { kTruncated };
enum FrameSlot : uint8_t { kMethod, kLine, kFrameType };
enum MethodSlot : uint8_t { kClass, kName, kDescriptor };

constexpr std::array<WantedField, 1> kTraceFields{{{"truncated", kTruncated}}};
constexpr std::array<WantedField, 3> kFrameFields{
    {{"method", kMethod}, {"lineNumber", kLine}, {"type", kFrameType}}};
constexpr std::array<WantedField, 3> kMethodFields{
    {{"type", kClass}, {"name", kName}, {"descriptor", kDescriptor}}};

// async-profiler marks what is no Java method by descriptors that no Java method can have. A JDK
// calls Java methods with a native body "Native" too, and those keep their Java names.
bool is_java_descriptor(std::string_view descriptor) {
  return descriptor.starts_with('(') && descriptor != "()L;" && descriptor != "(Lk;)L;";
}

FrameKind kind_of(std::string_view frame_type, std::string_view descriptor) {
  if (frame_type == "Kernel") return FrameKind::kKernel;
  if (frame_type == "C++") return FrameKind::kNative;
  if (frame_type == "Native" && !is_java_descriptor(descriptor)) return FrameKind::kNative;
  return FrameKind::kJvm;
}

}  // namespace

StackResolver::StackResolver(Constants& constants, size_t max_depth, JavaNames names)
    : constants_(constants), max_depth_(max_depth), names_(names) {
  const TypeTable& types = constants.types();
  trace_type_ = types.by_name("jdk.types.StackTrace");
  if (trace_type_ == kNoType) return;
  const std::vector<Field>& fields = types[trace_type_].fields;
  size_t frames = 0;
  while (frames < fields.size() && fields[frames].name != "frames") ++frames;
  if (frames == fields.size() || !fields[frames].is_array || fields[frames].constant_pool ||
      fields[frames].type == kNoType) {
    return;
  }
  const bool compressed = constants.chunk().compressed_ints;
  auto before = compile_fields(
      types, trace_type_,
      {.wanted = kTraceFields, .field_count = frames, .compressed_ints = compressed});
  auto frame = compile_fields(types, fields[frames].type,
                              {.wanted = kFrameFields, .compressed_ints = compressed});
  auto after = compile_fields(
      types, trace_type_,
      {.wanted = kTraceFields, .first_field = frames + 1, .compressed_ints = compressed});
  if (!before || !frame || !after) return;
  before_frames_ = std::move(before).value();
  frame_ = std::move(frame).value();
  after_frames_ = std::move(after).value();
  const SlotField& method = frame_.field(kMethod);
  if (!method.constant_pool || method.type == kNoType) return;
  method_type_ = method.type;
  method_ = constants.program(method_type_, kMethodFields);
  frame_type_type_ =
      frame_.field(kFrameType).constant_pool ? frame_.field(kFrameType).type : kNoType;
  known_.resize(constants.pools().size(trace_type_));
  readable_ = true;
}

ResolvedStack StackResolver::resolve(int64_t id) {
  if (id == 0) return {};
  const uint32_t position =
      readable_ ? constants_.pools().find(trace_type_, id) : ConstantPools::kNone;
  if (position == ConstantPools::kNone) return {.stack = {}, .missing = true};
  ResolvedStack& known = known_[position];
  if (!known.decoded) known = decode(position);
  return known;
}

ResolvedStack StackResolver::decode(uint32_t position) {
  const Chunk& chunk = constants_.chunk();
  Cursor cursor =
      chunk.cursor(constants_.pools().offset(trace_type_, position), chunk.bytes.size());
  Slots slots;
  before_frames_.run(cursor, slots);
  ResolvedStack resolved;
  resolved.decoded = true;
  resolved.truncated = slots.numbers[kTruncated] != 0;
  const int32_t count = cursor.read_int();
  scratch_.clear();
  slots.numbers.fill(0);
  for (int32_t i = 0; i < count && !cursor.failed(); ++i) {
    frame_.rerun(cursor, slots);
    if (cursor.failed()) break;
    if (scratch_.size() == max_depth_) {
      resolved.truncated = true;
      continue;
    }
    const int64_t line = slots.numbers[kLine];
    scratch_.push_back(
        location({slots.numbers[kMethod], line > 0 ? line : 0, slots.numbers[kFrameType]}));
  }
  after_frames_.run(cursor, slots);
  resolved.truncated |= slots.numbers[kTruncated] != 0;
  resolved.stack = constants_.builder().stack(scratch_);
  return resolved;
}

LocationId StackResolver::location(const FrameKey& key) {
  const uint32_t at = location_index_.find_or_insert(
      mix(mix(static_cast<uint64_t>(key.method) ^ secret_) ^
          (static_cast<uint64_t>(key.line) << 8 ^ static_cast<uint64_t>(key.frame_type))),
      [&](uint32_t position) { return location_keys_[position] == key; },
      [&] {
        location_keys_.push_back(key);
        locations_.push_back(make_location(key));
        return static_cast<uint32_t>(locations_.size() - 1);
      });
  return locations_[at];
}

LocationId StackResolver::make_location(const FrameKey& key) {
  DictionaryBuilder& builder = constants_.builder();
  Slots slots;
  if (!constants_.read(method_type_, key.method, method_, slots))
    return builder.frame("[unknown method]", {}, 0, FrameKind::kJvm);
  const std::string class_name = constants_.text(method_.field(kClass), kClass, slots);
  const std::string name = constants_.text(method_.field(kName), kName, slots);
  const std::string descriptor = constants_.text(method_.field(kDescriptor), kDescriptor, slots);
  const std::string frame_type = constants_.constant_text(frame_type_type_, key.frame_type);
  TextBudget& budget = constants_.budget();
  if (!budget.spend(2 * (class_name.size() + name.size()) + descriptor.size())) return {};

  Location location;
  location.kind = kind_of(frame_type, descriptor);
  Function function;
  if (names_ == JavaNames::kPyroscope) {
    function.name =
        builder.string(budget.clean(pyroscope_symbol(class_name) + "." + pyroscope_symbol(name)));
  } else if (location.kind == FrameKind::kJvm) {
    const std::string readable = readable_class(class_name);
    function.name = builder.string(budget.clean(readable.empty() ? name : readable + "." + name));
    function.system_name = builder.string(
        budget.clean(collapse_generated_class(class_name) + "." + name + descriptor));
  } else {
    function.name = builder.string(name.empty() ? "[unknown]" : name);
    if (!class_name.empty()) {
      Mapping library;
      library.file = builder.string(collapse_library(class_name));
      location.mapping = builder.mapping(library);
    }
  }
  if (builder.dictionary().string(function.name).empty())
    function.name = builder.string("[unknown method]");
  const Line line{builder.function(function), 0, key.line};
  return builder.location(location, std::span<const Line>(&line, 1));
}

}  // namespace vesta::jfr
