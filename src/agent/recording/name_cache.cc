#include "agent/recording/name_cache.h"

namespace vesta {
namespace {

constexpr uint64_t kPlaceBytes = 96;  // of an entry with its node and bucket
constexpr uint64_t kTextBytes = 64;   // of a text beside its characters

}  // namespace

std::string_view NameCache::keep(std::string_view text) {
  if (text.empty()) return {};
  const auto [at, is_new] = texts_.emplace(text);
  if (is_new) bytes_ += kTextBytes + text.size();
  return *at;
}

bool NameCache::symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) {
  // What a compiler at run time wrote may be something else the next time.
  if (address.kind == CodeAddress::Kind::kAnonymous) return source_.symbolize(address, frames);
  const auto found = known_.find(address);
  if (found != known_.end()) {
    ++hits_;
    frames.insert(frames.end(), found->second.frames.begin(), found->second.frames.end());
    return found->second.is_named;
  }
  ++misses_;
  Known known;
  known.is_named = source_.symbolize(address, known.frames);
  for (SourceFrame& frame : known.frames) {
    frame.name = keep(frame.name);
    frame.linkage_name = keep(frame.linkage_name);
    frame.file = keep(frame.file);
  }
  bytes_ += kPlaceBytes + known.frames.size() * sizeof(SourceFrame);
  frames.insert(frames.end(), known.frames.begin(), known.frames.end());
  return known_.emplace(address, std::move(known)).first->second.is_named;
}

void NameCache::forget_kernel() {
  std::erase_if(known_, [this](const auto& entry) {
    if (entry.first.kind != CodeAddress::Kind::kKernel) return false;
    bytes_ -= kPlaceBytes + entry.second.frames.size() * sizeof(SourceFrame);
    return true;
  });
}

void NameCache::shrink() {
  if (bytes_ > max_bytes_) clear();
}

void NameCache::clear() {
  known_.clear();
  texts_.clear();
  bytes_ = 0;
}

}  // namespace vesta
