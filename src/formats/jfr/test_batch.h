// What the tests of this folder share: reading with checks, looking things up in a batch, and a few
// small chunks. Only for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/jfr/reader.h"
#include "formats/jfr/test_recording.h"

namespace vesta::jfr {

inline ProfileBatch read_ok(const std::string& bytes, const ReadOptions& options = {}) {
  auto batch = read_jfr(bytes, options);
  EXPECT_TRUE(batch.ok()) << batch.error().message;
  if (!batch) return {};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return std::move(batch).value();
}

inline std::string error_of(const std::string& bytes, const ReadOptions& options = {}) {
  auto batch = read_jfr(bytes, options);
  return batch ? "no error" : batch.error().message;
}

// The profile that has a sample type of this name.
inline const Profile* find_profile(const ProfileBatch& batch, std::string_view type) {
  for (const Profile& profile : batch.profiles) {
    for (const SampleType& sample_type : profile.sample_types) {
      if (batch.dictionary.string(sample_type.type) == type) return &profile;
    }
  }
  return nullptr;
}

inline int64_t total(const ProfileBatch& batch, std::string_view type) {
  const Profile* profile = find_profile(batch, type);
  if (profile == nullptr) return -1;
  for (size_t i = 0; i < profile->sample_types.size(); ++i) {
    if (batch.dictionary.string(profile->sample_types[i].type) == type) {
      return total_of(*profile, i);
    }
  }
  return -1;
}

inline uint64_t loss(const ProfileBatch& batch, std::string_view reason) {
  uint64_t count = 0;
  for (const Profile& profile : batch.profiles) {
    for (const Loss& loss : profile.losses) {
      if (batch.dictionary.string(loss.reason) == reason) count += loss.count;
    }
  }
  return count;
}

// "root;middle;leaf" of a row.
inline std::string folded(const ProfileBatch& batch, const Profile& profile, size_t row) {
  const Dictionary& d = batch.dictionary;
  std::string text;
  const auto stack = d.stacks[profile.samples.stacks[row]];
  for (size_t at = stack.size(); at-- > 0;) {
    if (!text.empty()) text += ';';
    text += d.string(d.function(d.lines[stack[at]][0].function).name);
  }
  return text;
}

inline std::string label(const ProfileBatch& batch, LabelSetId set, std::string_view key) {
  for (const Label& label : batch.dictionary.label_sets[set]) {
    if (batch.dictionary.string(label.key) != key) continue;
    return label.kind == LabelKind::kString ? std::string(batch.dictionary.string(label.text))
                                            : std::to_string(label.number);
  }
  return "";
}

// Three samples of a thread in com.example.Main, from a JDK that samples each 20 ms.
inline TestChunk small_chunk(bool compressed = true) {
  TestChunk chunk(compressed);
  const int64_t main = chunk.method("com/example/Main", "main", "([Ljava/lang/String;)V");
  const int64_t work = chunk.method("com/example/Main", "work", "(I)J");
  const int64_t thread = chunk.thread("worker-1");
  const int64_t runnable = chunk.state("STATE_RUNNABLE");
  const int64_t deep = chunk.stack({{work, 42}, {main, 7}});
  const int64_t flat = chunk.stack({{main, 8}});
  chunk.setting("jdk.ExecutionSample", "period", "20 ms");
  chunk.execution_sample(2000, thread, deep, runnable);
  chunk.execution_sample(3000, thread, deep, runnable);
  chunk.execution_sample(4000, thread, flat, runnable);
  return chunk;
}

inline std::vector<TestField> event_fields(std::vector<TestField> more) {
  std::vector<TestField> fields{{"startTime", "long"},
                                {"duration", "long", false, false, "TICKS"},
                                {"eventThread", "java.lang.Thread", true},
                                {"stackTrace", "jdk.types.StackTrace", true}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

// A chunk with one stack and one thread, and events of one type with a few numbers at the end.
class EventChunk {
 public:
  explicit EventChunk(bool compressed = true) : chunk(compressed) {
    thread = chunk.thread("worker-1");
    stack = chunk.stack({{chunk.method("com/example/Main", "work"), 42}});
  }
  void define(const std::string& event, std::vector<TestField> more = {}) {
    chunk.type(event, event_fields(std::move(more)));
  }
  Encoder event(int64_t ticks, int64_t duration) const {
    return chunk.encoder().long_(ticks).long_(duration).long_(thread).long_(stack);
  }

  TestChunk chunk;
  int64_t thread = 0;
  int64_t stack = 0;
};

}  // namespace vesta::jfr
