// Names from outside made fit to keep: invalid UTF-8 replaced, over-long names cut, and both
// counted, so that a profile can say what was done to it. One per reader run; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "formats/common/read_options.h"
#include "profile/dictionary_builder.h"
#include "profile/profile.h"

namespace vesta {

class NameCleaner {
 public:
  explicit NameCleaner(const ReadOptions& options) : max_bytes_(options.max_string_bytes) {}

  // The name itself when nothing is wrong with it; otherwise a view that lasts until the next call.
  std::string_view clean(std::string_view name) {
    if (name.size() > max_bytes_) {
      ++truncated_;
      size_t end = max_bytes_;
      while (end > 0 && (static_cast<uint8_t>(name[end]) & 0xC0) == 0x80) --end;
      name = name.substr(0, end);
    }
    if (is_valid_utf8(name)) return name;
    ++repaired_;
    buffer_ = replace_invalid_utf8(name);
    return buffer_;
  }

  void count_cut_stack() { ++cut_stacks_; }

  // Hands what was counted so far to one profile; the counts start again at zero.
  void add_losses(Profile& profile, DictionaryBuilder& builder) {
    const auto add = [&](const char* reason, uint64_t& count) {
      if (count > 0) profile.add_loss(builder.string(reason), count);
      count = 0;
    };
    add(kLossInvalidUtf8, repaired_);
    add(kLossNameTruncated, truncated_);
    add(kLossStackTruncated, cut_stacks_);
  }

 private:
  size_t max_bytes_;
  uint64_t truncated_ = 0;
  uint64_t repaired_ = 0;
  uint64_t cut_stacks_ = 0;
  std::string buffer_;
};

}  // namespace vesta
