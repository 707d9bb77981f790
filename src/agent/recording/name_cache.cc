#include "agent/recording/name_cache.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/clock.h"

namespace vesta {
namespace {

constexpr uint64_t kPlaceBytes = 96;  // of an entry with its node and bucket
constexpr uint64_t kTextBytes = 64;   // of a text beside its characters

uint64_t bytes_of(const std::vector<SourceFrame>& frames) {
  return kPlaceBytes + frames.size() * sizeof(SourceFrame);
}

}  // namespace

NameCache::NameCache(NameSource& source, uint64_t max_bytes, Clock clock)
    : source_(source),
      max_bytes_(max_bytes),
      clock_(clock ? std::move(clock) : Clock(monotonic_ns)) {}

std::string_view NameCache::Generation::keep(std::string_view text) {
  if (text.empty()) return {};
  const auto [at, is_new] = texts.emplace(text);
  if (is_new) bytes += kTextBytes + text.size();
  return *at;
}

const NameCache::Known& NameCache::Generation::add(const CodeAddress& address, Known entry) {
  for (SourceFrame& frame : entry.frames) {
    frame.name = keep(frame.name);
    frame.linkage_name = keep(frame.linkage_name);
    frame.file = keep(frame.file);
  }
  entry.frames.shrink_to_fit();
  bytes += bytes_of(entry.frames);
  return places(address).emplace(address, std::move(entry)).first->second;
}

const NameCache::Known* NameCache::Generation::find(const CodeAddress& address) {
  const Places& all = places(address);
  const auto found = all.find(address);
  return found != all.end() ? &found->second : nullptr;
}

void NameCache::Generation::forget_kernel() {
  for (const auto& [address, entry] : kernel) bytes -= bytes_of(entry.frames);
  kernel.clear();
}

bool NameCache::is_too_late() const {
  const uint64_t end_ns = std::min<uint64_t>(deadline_ns_, stop_ns_);
  return end_ns != UINT64_MAX && clock_() >= end_ns;
}

const NameCache::Known* NameCache::find(const CodeAddress& address) {
  if (const Known* known = recent_.find(address)) return known;
  const Known* older = older_.find(address);
  // A copy: views that were handed out stay valid until shrink().
  return older != nullptr ? &recent_.add(address, *older) : nullptr;
}

bool NameCache::symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) {
  // What a compiler at run time wrote may be something else the next time.
  const bool is_lasting = address.kind != CodeAddress::Kind::kAnonymous;
  if (is_lasting) {
    if (const Known* known = find(address)) {
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
  ++misses_;
  Known found;
  found.is_named = source_.symbolize(address, found.frames);
  const Known& known = recent_.add(address, std::move(found));
  frames.insert(frames.end(), known.frames.begin(), known.frames.end());
  return known.is_named;
}

void NameCache::learn(std::vector<CodeAddress>& addresses) {
  std::erase_if(addresses, [this](const CodeAddress& address) {
    return address.kind != CodeAddress::Kind::kModule || find(address) != nullptr;
  });
  std::ranges::sort(addresses, {}, [](const CodeAddress& address) {
    return std::tuple(address.owner, address.address);
  });
  for (const CodeAddress& address : addresses) {
    if (recent_.find(address) != nullptr) continue;  // the one before
    if (is_too_late()) return;
    ignored_.clear();
    (void)symbolize(address, ignored_);
  }
}

void NameCache::forget_kernel() {
  recent_.forget_kernel();
  older_.forget_kernel();
}

void NameCache::shrink() {
  if (recent_.bytes > max_bytes_ / 2) older_ = std::exchange(recent_, {});
}

void NameCache::shed() {
  older_ = std::exchange(recent_, {});
}

}  // namespace vesta
