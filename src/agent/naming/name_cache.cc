#include "agent/naming/name_cache.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/clock.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kTextBytes = 64;  // of a text beside its characters

}  // namespace

NameCache::NameCache(NameSource& source, uint64_t max_bytes, Clock clock)
    : source_(source),
      max_bytes_(max_bytes),
      clock_(clock ? std::move(clock) : Clock(monotonic_ns)) {}

std::string_view NameCache::Generation::keep(std::string_view text) {
  if (text.empty()) return {};
  if (const auto known = texts.find(text); known != texts.end()) return *known;
  text_bytes += kTextBytes + text.size();
  return *texts.emplace(text).first;
}

void NameCache::Generation::add(const CodeAddress& address, std::span<const SourceFrame> frames,
                                bool is_named) {
  Places& all = places(address);
  all.known.add(address, {static_cast<uint32_t>(all.frames.size()),
                          static_cast<uint32_t>(frames.size()), is_named});
  for (SourceFrame frame : frames) {
    frame.name = keep(frame.name);
    frame.linkage_name = keep(frame.linkage_name);
    frame.file = keep(frame.file);
    all.frames.push_back(frame);
  }
}

bool NameCache::is_too_late() const {
  const uint64_t end_ns = std::min<uint64_t>(deadline_ns_, stop_ns_);
  return end_ns != UINT64_MAX && clock_() >= end_ns;
}

std::optional<NameCache::Found> NameCache::find(const CodeAddress& address) {
  const Places& recent = recent_.places(address);
  if (const Known* known = recent.known.find(address))
    return Found{recent.frames_of(*known), known->is_named};
  const Places& older = older_.places(address);
  const Known* known = older.known.find(address);
  if (known == nullptr) return std::nullopt;
  // A copy: views that were handed out stay valid until shrink().
  const Found found{older.frames_of(*known), known->is_named};
  recent_.add(address, found.frames, found.is_named);
  return found;
}

bool NameCache::symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) {
  // What a compiler at run time wrote may be something else the next time.
  const bool is_lasting = address.kind != CodeAddress::Kind::kAnonymous;
  if (is_lasting) {
    if (const auto known = find(address)) {
      ++hits_;
      frames.insert(frames.end(), known->frames.begin(), known->frames.end());
      return known->is_named;
    }
  }
  if (is_too_late()) {
    ++too_late_;
    return false;
  }
  if (!is_lasting) return source_.symbolize(address, frames);
  look_up(address);
  const auto known = find(address);
  frames.insert(frames.end(), known->frames.begin(), known->frames.end());
  return known->is_named;
}

// REQUIRES: not known
void NameCache::look_up(const CodeAddress& address) {
  ++misses_;
  found_.clear();
  const bool is_named = source_.symbolize(address, found_);
  recent_.add(address, found_, is_named);
}

void NameCache::learn(std::vector<CodeAddress>& addresses) {
  std::erase_if(addresses, [this](const CodeAddress& address) {
    return address.kind != CodeAddress::Kind::kModule || find(address);
  });
  std::ranges::sort(addresses, {}, [](const CodeAddress& address) {
    return std::tuple(address.owner, address.address);
  });
  for (const CodeAddress& address : addresses) {
    if (find(address)) continue;  // the one before
    if (is_too_late()) return;
    look_up(address);
  }
}

void NameCache::forget_kernel() {
  recent_.kernel = {};
  older_.kernel = {};
}

void NameCache::shrink() {
  if (recent_.bytes() > max_bytes_ / 2) older_ = std::exchange(recent_, {});
}

void NameCache::shed() {
  older_ = std::exchange(recent_, {});
}

}  // namespace vesta::agent
