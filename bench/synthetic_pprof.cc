#include "synthetic_pprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "formats/pprof/fields.h"
#include "formats/protobuf/wire.h"

namespace vesta {
namespace {

using namespace pprof;

constexpr uint32_t kFanOut = 6;

class Generator {
 public:
  explicit Generator(const SyntheticShape& shape)
      : shape_(shape), functions_(std::max(1u, shape.locations / 4)), random_(shape.seed) {
    for (const char* text :
         {"", "samples", "count", "cpu", "nanoseconds", "/usr/bin/server",
          "0123456789abcdef0123456789abcdef01234567", "thread", "bytes", "request"}) {
      strings_.emplace_back(text);
    }
  }

  std::string run() {
    value_type(profile::kSampleType, 1, 2);
    value_type(profile::kSampleType, 3, 4);
    assign_callees();
    for (uint32_t i = 0; i < shape_.samples; ++i) sample();
    mapping();
    for (uint32_t i = 1; i <= shape_.locations; ++i) location(i);
    for (uint32_t i = 1; i <= functions_; ++i) function(i);
    for (const std::string& text : strings_) out_.always_bytes(profile::kStringTable, text);
    out_.int64(profile::kTimeNanos, 1'700'000'000'000'000'000);
    out_.int64(profile::kDurationNanos, 10'000'000'000);
    value_type(profile::kPeriodType, 3, 4);
    out_.int64(profile::kPeriod, 10'000'000);
    return out_.take();
  }

 private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  // Ids in the order in which a profiler would meet them: callees mostly have ids near a multiple
  // of their caller's, so the tree gets wide quickly, and sometimes any id, so hot helpers recur.
  void assign_callees() {
    callees_.resize(size_t{shape_.locations} * kFanOut);
    for (uint32_t i = 0; i < shape_.locations; ++i) {
      for (uint32_t k = 0; k < kFanOut; ++k) {
        const uint64_t child = uint64_t{i} * kFanOut / 2 + k + 1;
        const uint32_t near = static_cast<uint32_t>(child % shape_.locations);
        callees_[size_t{i} * kFanOut + k] = below(8) == 0 ? below(shape_.locations) : near;
      }
    }
  }

  void sample() {
    const uint32_t depth = shape_.depth / 2 + below(shape_.depth + 1);
    stack_.clear();
    uint32_t at = below(4) % shape_.locations;  // a few entry points
    for (uint32_t i = 0; i < depth; ++i) {
      stack_.push_back(at + 1);
      // The first callees are the hot ones.
      const uint32_t roll = below(16);
      const uint32_t pick = roll < 8 ? 0 : roll < 12 ? 1 : roll < 14 ? 2 : below(kFanOut);
      at = callees_[size_t{at} * kFanOut + pick];
    }
    std::reverse(stack_.begin(), stack_.end());
    message_.clear();
    message_.packed(sample::kLocationId, stack_, [](uint32_t id) { return id; });
    const int64_t count = 1 + below(3);
    const int64_t values[] = {count, count * 10'000'000};
    message_.packed(sample::kValue, values, [](int64_t value) { return value; });
    if (shape_.label_every != 0 && below(shape_.label_every) == 0) {
      label_.clear();
      label_.uint64(label::kKey, 7);
      label_.uint64(label::kStr, thread_name(below(64)));
      message_.message(sample::kLabel, label_);
      label_.clear();
      label_.uint64(label::kKey, 9);
      label_.int64(label::kNum, 1 << below(12));
      label_.uint64(label::kNumUnit, 8);
      message_.message(sample::kLabel, label_);
    }
    out_.message(profile::kSample, message_);
  }

  uint64_t thread_name(uint32_t i) {
    if (threads_.empty()) {
      for (uint32_t k = 0; k < 64; ++k) threads_.push_back(string(fmt::format("worker-{}", k)));
    }
    return threads_[i];
  }

  uint64_t string(std::string text) {
    strings_.push_back(std::move(text));
    return strings_.size() - 1;
  }

  void value_type(uint32_t field, uint64_t type, uint64_t unit) {
    message_.clear();
    message_.uint64(value_type::kType, type);
    message_.uint64(value_type::kUnit, unit);
    out_.message(field, message_);
  }

  void mapping() {
    message_.clear();
    message_.uint64(mapping::kId, 1);
    message_.uint64(mapping::kMemoryStart, 0x400000);
    message_.uint64(mapping::kMemoryLimit, 0x4000000);
    message_.uint64(mapping::kFilename, 5);
    message_.uint64(mapping::kBuildId, 6);
    message_.boolean(mapping::kHasFunctions, true);
    out_.message(profile::kMapping, message_);
  }

  void location(uint32_t id) {
    message_.clear();
    message_.uint64(location::kId, id);
    message_.uint64(location::kMappingId, 1);
    message_.uint64(location::kAddress, 0x400000 + uint64_t{id} * 37);
    const uint32_t lines = below(5) == 0 ? 2 : 1;
    for (uint32_t i = 0; i < lines; ++i) {
      line_.clear();
      line_.uint64(line::kFunctionId, 1 + (id / 4 + i * 7) % functions_);
      line_.int64(line::kLine, 10 + below(900));
      message_.message(location::kLine, line_);
    }
    out_.message(profile::kLocation, message_);
  }

  void function(uint32_t id) {
    message_.clear();
    message_.uint64(function::kId, id);
    const uint64_t name = string(fmt::format(
        "github.com/example/service{}/package{}.(*Type{}).Do{}", id % 7, id % 211, id % 997, id));
    message_.uint64(function::kName, name);
    message_.uint64(function::kSystemName, name);
    if (id % 8 == 1)
      file_ = string(fmt::format("/src/service{}/package{}/file{}.go", id % 7, id % 211, id));
    message_.uint64(function::kFilename, file_);
    message_.int64(function::kStartLine, 5 + below(800));
    out_.message(profile::kFunction, message_);
  }

  const SyntheticShape& shape_;
  uint32_t functions_;
  std::mt19937 random_;
  std::vector<std::string> strings_;
  std::vector<uint64_t> threads_;
  std::vector<uint32_t> callees_;
  std::vector<uint32_t> stack_;
  uint64_t file_ = 0;
  WireWriter out_;
  WireWriter message_;
  WireWriter label_;
  WireWriter line_;
};

}  // namespace

std::string make_synthetic_pprof(const SyntheticShape& shape) {
  return Generator(shape).run();
}

}  // namespace vesta
