// Named stacks in a dictionary, from stacks of addresses. Refers to the dictionary and to where
// names come from, which must outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/naming/address_map.h"
#include "agent/naming/name_source.h"
#include "base/hash.h"
#include "profile/dictionary_builder.h"

namespace vesta::agent {

// The frame between a function and a caller that is only likely.
inline constexpr std::string_view kGuessedCaller = "[guessed caller]";

// What a stack has besides its frames.
struct StackExtras {
  std::string_view outermost = {};  // a frame above all others
  // The cause of an event is a frame below all others; see ProbeKind.
  std::string_view (*cause_of)(uint64_t detail, std::span<const std::string_view> kernel,
                               std::span<const std::string_view> user) = nullptr;
  bool with_kernel = true;  // else those frames only tell the cause
  // What interrupted the thread that ran when the event ended, by the functions of the kernel, leaf
  // first: "interrupt: timer". Empty when it was the thread itself.
  std::string_view (*interrupt_of)(std::span<const std::string_view> kernel) = nullptr;
};

// Who ended an event, with names.
struct KnownEnder {
  std::string_view interrupt;         // see StackExtras::interrupt_of; empty for a thread
  std::vector<LocationId> locations;  // of its stack, leaf first; empty for an interrupt
};

struct KnownStack {
  StackId id;
  std::string_view cause;  // empty without one; lives for ever
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

  // Extras must be the same for the same process and probe. Valid until the next call.
  const KnownStack& stack_of(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                             const StackExtras& extras = {});
  // REQUIRES: the sample has one; `frames` are its. Valid until the next call.
  const KnownEnder& ender_of(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                             const StackExtras& extras);
  // A stack on top of another one: `on_top` and then `below`, leaf first.
  StackId join(std::span<const LocationId> on_top, StackId below);
  // Appends those places of a stack that no stack so far had: stack_of() will ask for their names.
  void add_new_places(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                      std::vector<CodeAddress>& places) const;
  // A frame that stands for something that happened to us, not for code.
  LocationId marker(std::string_view name) { return dictionary_.frame(name); }

  // Readers of pprof take the first mapping for the program itself.
  void put_first(std::string_view executable);

 private:
  struct Place {
    LocationId location;
    StringId function;  // the innermost
    uint32_t frames = 0;
    uint32_t folded = 0;
    bool is_named = false;
    bool is_late = false;
  };
  // A stack that came before, by all that decides about it. Hashes can be made to collide by who
  // makes the addresses; with the process in the key that only harms its own profile.
  struct StackKey {
    Hash128 frames;
    uint64_t detail = 0;
    uint32_t process = 0;
    uint32_t probe = 0;
    vesta_unwind_result result = VESTA_UNWIND_COMPLETE;
    friend bool operator==(const StackKey&, const StackKey&) = default;
  };
  struct StackKeyHash {
    size_t operator()(const StackKey& key) const {
      return key.frames.low ^ (uint64_t{key.process} << 32) ^ key.detail;
    }
  };

  KnownEnder make_ender(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                        const StackExtras& extras);
  // Names of the functions of the kernel, leaf first, and of all; until a string is added.
  std::vector<std::string_view> function_names(std::span<const CodeAddress> frames,
                                               size_t& kernel_functions);
  KnownStack make_stack(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                        const StackExtras& extras);
  std::string_view cause_of(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                            const StackExtras& extras);
  static StackKey key_of(const ResolvedSample& sample, std::span<const CodeAddress> frames);
  const Place& place_of(const CodeAddress& address);
  Place make_place(const CodeAddress& address);
  MappingId mapping_of(const CodeAddress& address);

  NameSource& names_;
  DictionaryBuilder dictionary_;
  const IsHidden is_hidden_;
  AddressMap<Place> places_;
  std::unordered_map<StackKey, KnownStack, StackKeyHash> stacks_;
  std::unordered_map<StackKey, KnownEnder, StackKeyHash> enders_;
  std::vector<LocationId> stack_;    // scratch
  std::vector<StringId> functions_;  // scratch
  std::vector<SourceFrame> source_;  // scratch
  std::vector<Line> lines_;          // scratch
};

}  // namespace vesta::agent
