// Names that were found once, for a profiler that runs for months: a symbol table need not be open
// while its program does the same as before. Bounded: names that nobody asked for lately go first.
// May be told to answer from what it knows alone after some time, so that naming comes to an end
// however slow files are. Refers to the source behind it, which must outlive it. One owner thread,
// but for stop_by().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "agent/naming/address_map.h"
#include "agent/naming/name_source.h"
#include "base/table_hash.h"

namespace vesta::agent {

class NameCache final : public NameSource {
 public:
  using Clock = std::function<uint64_t()>;  // CLOCK_MONOTONIC in ns; that when empty

  NameCache(NameSource& source, uint64_t max_bytes, Clock clock = {});

  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override;
  CodePlace place(const CodeAddress& address) override { return source_.place(address); }
  FrameKind kind(const CodeAddress& address) const override { return source_.kind(address); }

  // Finds the names of all these places that are not known yet, one binary after the other, so that
  // those whose tables do not all fit in memory are opened once. Sorts them.
  void learn(std::vector<CodeAddress>& addresses) override;

  // From that time on (CLOCK_MONOTONIC), what is not known stays without a name and is counted.
  void set_deadline(uint64_t time_ns) override { deadline_ns_ = time_ns; }
  // The same, for good. Any thread.
  void stop_by(uint64_t time_ns) { stop_ns_ = time_ns; }
  uint64_t too_late() const override { return too_late_; }

  // Code of the kernel came or went: its addresses may mean something else now.
  void forget_kernel();
  // Forgets what was not asked for lately when there is too much. Views that were handed out end
  // here.
  void shrink();
  // The same at once, to save memory.
  void shed();

  uint64_t byte_size() const { return recent_.bytes() + older_.bytes(); }
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  struct Known {
    uint32_t first_frame = 0;  // in Places::frames
    uint32_t frame_count = 0;
    bool is_named = false;
  };
  struct Places {
    AddressMap<Known> known;
    std::vector<SourceFrame> frames;  // views into the generation's texts

    std::span<const SourceFrame> frames_of(const Known& place) const {
      return std::span(frames).subspan(place.first_frame, place.frame_count);
    }
    uint64_t bytes() const { return known.byte_size() + frames.capacity() * sizeof(SourceFrame); }
  };
  // Asked with views.
  struct TextHash : TableKeyHash {
    using is_transparent = void;
  };
  // Names move to the recent generation when they are asked for again; the older one goes as a
  // whole.
  struct Generation {
    Places files;
    Places kernel;  // apart, to be forgotten at once
    std::unordered_set<std::string, TextHash, std::equal_to<>>
        texts;  // does not move what it holds
    uint64_t text_bytes = 0;

    Places& places(const CodeAddress& address) {
      return address.kind == CodeAddress::Kind::kKernel ? kernel : files;
    }
    uint64_t bytes() const { return files.bytes() + kernel.bytes() + text_bytes; }
    std::string_view keep(std::string_view text);
    void add(const CodeAddress& address, std::span<const SourceFrame> frames, bool is_named);
  };
  // Valid until something is added.
  struct Found {
    std::span<const SourceFrame> frames;
    bool is_named = false;
  };

  bool is_too_late() const;
  std::optional<Found> find(const CodeAddress& address);
  void look_up(const CodeAddress& address);

  NameSource& source_;
  const uint64_t max_bytes_;
  const Clock clock_;
  Generation recent_;
  Generation older_;
  uint64_t deadline_ns_ = UINT64_MAX;
  std::atomic<uint64_t> stop_ns_{UINT64_MAX};
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t too_late_ = 0;
  std::vector<SourceFrame> found_;  // scratch
};

}  // namespace vesta::agent
