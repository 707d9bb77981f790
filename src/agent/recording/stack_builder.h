// Named stacks in a dictionary, from stacks of addresses. Refers to the dictionary and to where
// names come from, which must outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/recording/name_source.h"
#include "base/hash.h"
#include "profile/dictionary_builder.h"

namespace vesta {

// The frame between a function and a caller that is only likely.
inline constexpr std::string_view kGuessedCaller = "[guessed caller]";

struct KnownStack {
  StackId id;
  uint32_t frames = 0;
  uint32_t named_frames = 0;
  uint32_t folded_frames = 0;  // left out because nobody wants to see them
  bool is_late = false;        // some frames are addresses because naming took too long
};

class StackBuilder {
 public:
  // Functions for which `is_hidden` holds are folded into their callers; empty hides none.
  using IsHidden = std::function<bool(std::string_view function)>;

  StackBuilder(NameSource& names, Dictionary& dictionary, IsHidden is_hidden = {});

  DictionaryBuilder& dictionary() { return dictionary_; }

  // `outermost` is put above all others when it is not empty; it must be the same for the same
  // process. Valid until the next call.
  const KnownStack& stack_of(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                             std::string_view outermost = {});
  // A frame that stands for something that happened to us, not for code.
  LocationId marker(std::string_view name) { return dictionary_.frame(name); }

  // Readers of pprof take the first mapping for the program itself.
  void put_first(std::string_view executable);

 private:
  struct Place {
    LocationId location;
    uint32_t frames = 0;
    uint32_t folded = 0;
    bool is_named = false;
    bool is_late = false;
  };
  // A stack that came before, by all that decides about it. Hashes can be made to collide by who
  // makes the addresses; with the process in the key that only harms its own profile.
  struct StackKey {
    Hash128 frames;
    uint32_t process = 0;
    vesta_unwind_result result = VESTA_UNWIND_COMPLETE;
    friend bool operator==(const StackKey&, const StackKey&) = default;
  };
  struct StackKeyHash {
    size_t operator()(const StackKey& key) const {
      return key.frames.low ^ (uint64_t{key.process} << 32);
    }
  };

  KnownStack make_stack(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                        std::string_view outermost);
  const Place& place_of(const CodeAddress& address);
  Place make_place(const CodeAddress& address);
  MappingId mapping_of(const CodeAddress& address);

  NameSource& names_;
  DictionaryBuilder dictionary_;
  const IsHidden is_hidden_;
  std::unordered_map<CodeAddress, Place, CodeAddressHash> places_;
  std::unordered_map<StackKey, KnownStack, StackKeyHash> stacks_;
  std::vector<LocationId> stack_;    // scratch
  std::vector<SourceFrame> source_;  // scratch
  std::vector<Line> lines_;          // scratch
};

}  // namespace vesta
