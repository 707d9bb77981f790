#include "agent/process/mapping_history.h"

#include <algorithm>

namespace vesta::agent {
namespace {

// The first mapping that ends behind an address.
auto first_ending_behind(auto& mappings, uint64_t address) {
  return std::ranges::upper_bound(mappings, address, {}, &CodeMapping::end);
}

// The part of a mapping in [start, end), which lies inside of it.
CodeMapping part_of(const CodeMapping& whole, uint64_t start, uint64_t end, uint64_t born_ns) {
  CodeMapping part = whole;
  part.start = start;
  part.end = end;
  part.file_offset += start - whole.start;
  part.born_ns = born_ns;
  return part;
}

}  // namespace

MappingHistory::MappingHistory(const MappingHistory& other)
    : registry_(other.registry_),
      limits_(other.limits_),
      alive_(other.alive_),
      dead_(other.dead_),
      last_change_ns_(other.last_change_ns_) {
  for (const CodeMapping& mapping : alive_) retain(mapping);
  for (const CodeMapping& mapping : dead_) retain(mapping);
}

MappingHistory::~MappingHistory() {
  for (const CodeMapping& mapping : alive_) release(mapping);
  for (const CodeMapping& mapping : dead_) release(mapping);
}

void MappingHistory::retain(const CodeMapping& mapping) {
  if (mapping.module) registry_->retain(mapping.module);
}

void MappingHistory::release(const CodeMapping& mapping) {
  if (mapping.module) registry_->release(mapping.module);
}

const CodeMapping* MappingHistory::find(uint64_t address, uint64_t time_ns) const {
  const auto it = first_ending_behind(alive_, address);
  if (it != alive_.end() && it->start <= address && time_ns >= it->born_ns) return &*it;
  // Times of dead mappings of one place do not overlap, so the order does not matter; the latest
  // are asked for most.
  for (size_t i = dead_.size(); i-- > 0;) {
    if (dead_[i].contains(address) && dead_[i].is_valid_at(time_ns)) return &dead_[i];
  }
  return nullptr;
}

bool MappingHistory::is_known(const CodeMapping& mapping) const {
  const auto it = first_ending_behind(alive_, mapping.start);
  return it != alive_.end() && it->is_same_code(mapping) && it->born_ns <= mapping.born_ns;
}

void MappingHistory::bury(CodeMapping mapping, uint64_t died_ns) {
  mapping.died_ns = died_ns;
  if (mapping.died_ns <= mapping.born_ns) return;
  retain(mapping);
  dead_.push_back(mapping);
  if (dead_.size() > limits_.max_dead) {
    // The older half at once, so that it does not cost every time.
    const auto keep = dead_.begin() + static_cast<ptrdiff_t>((dead_.size() + 1) / 2);
    std::for_each(dead_.begin(), keep, [this](const CodeMapping& old) { release(old); });
    dead_.erase(dead_.begin(), keep);
  }
}

MappingHistory::Change MappingHistory::insert(CodeMapping mapping) {
  auto first = first_ending_behind(alive_, mapping.start);
  auto last = first;
  uint64_t hidden_since = kStillAlive;
  while (last != alive_.end() && last->start < mapping.end) {
    if (last->born_ns > mapping.born_ns) hidden_since = std::min(hidden_since, last->born_ns);
    ++last;
  }
  if (last - first == 1 && first->is_same_code(mapping)) {
    if (mapping.born_ns >= first->born_ns) return Change::kNone;
    first->born_ns = mapping.born_ns;
    return Change::kNone;
  }
  last_change_ns_ = std::max(last_change_ns_, mapping.born_ns);
  if (hidden_since != kStillAlive) {
    // Late news: something younger is there already.
    bury(mapping, hidden_since);
    return Change::kNone;
  }
  std::vector<CodeMapping> replacement;
  if (first != last && first->start < mapping.start) {
    replacement.push_back(part_of(*first, first->start, mapping.start, mapping.born_ns));
  }
  mapping.died_ns = kStillAlive;
  replacement.push_back(mapping);
  if (first != last && std::prev(last)->end > mapping.end) {
    const CodeMapping& behind = *std::prev(last);
    replacement.push_back(part_of(behind, mapping.end, behind.end, mapping.born_ns));
  }
  const auto removed = static_cast<size_t>(last - first);
  if (alive_.size() - removed + replacement.size() > limits_.max_alive) return Change::kRefused;
  for (const CodeMapping& item : replacement) retain(item);
  for (auto it = first; it != last; ++it) {
    bury(*it, mapping.born_ns);
    release(*it);
  }
  // The usual cases move nothing twice.
  const size_t common = std::min(removed, replacement.size());
  const auto rest = std::copy_n(replacement.begin(), common, first);
  if (removed > common) {
    alive_.erase(rest, last);
  } else {
    alive_.insert(rest, replacement.begin() + static_cast<ptrdiff_t>(common), replacement.end());
  }
  return Change::kChanged;
}

void MappingHistory::replace(std::vector<CodeMapping> now, uint64_t time_ns, uint64_t since_ns) {
  if (now.size() > limits_.max_alive) now.resize(limits_.max_alive);
  std::vector<CodeMapping> gone;
  auto old = alive_.begin();
  for (CodeMapping& mapping : now) {
    mapping.born_ns = since_ns;
    mapping.died_ns = kStillAlive;
    while (old != alive_.end() && old->end <= mapping.start) gone.push_back(*old++);
    if (old != alive_.end() && old->is_same_code(mapping)) {
      mapping.born_ns = old->born_ns;
      ++old;
      retain(mapping);
      continue;
    }
    if (old != alive_.end() && old->start < mapping.end) mapping.born_ns = time_ns;
    retain(mapping);
  }
  gone.insert(gone.end(), old, alive_.end());
  for (const CodeMapping& mapping : gone) bury(mapping, time_ns);
  for (const CodeMapping& mapping : alive_) release(mapping);
  alive_ = std::move(now);
  last_change_ns_ = std::max(last_change_ns_, time_ns);
}

void MappingHistory::rewind(uint64_t time_ns) {
  if (last_change_ns_ <= time_ns) return;
  // References to modules live on in `before` until the end.
  const MappingHistory before(*this);
  std::vector<CodeMapping> then;
  for (const auto* list : {&before.alive_, &before.dead_}) {
    for (const CodeMapping& mapping : *list) {
      if (mapping.is_valid_at(time_ns)) then.push_back(mapping);
    }
  }
  for (const auto* list : {&alive_, &dead_}) {
    for (const CodeMapping& mapping : *list) release(mapping);
  }
  alive_.clear();
  dead_.clear();
  // Late news may have left mappings that overlap; the younger one counts.
  std::ranges::stable_sort(then, {}, &CodeMapping::born_ns);
  for (const CodeMapping& mapping : then) insert(mapping);
  last_change_ns_ = time_ns;
}

void MappingHistory::take_younger(MappingHistory& other, uint64_t time_ns) {
  const auto younger =
      std::stable_partition(other.alive_.begin(), other.alive_.end(),
                            [&](const CodeMapping& mapping) { return mapping.born_ns < time_ns; });
  // References move along.
  alive_.assign(younger, other.alive_.end());
  other.alive_.erase(younger, other.alive_.end());
  if (!alive_.empty()) last_change_ns_ = other.last_change_ns_;
}

void MappingHistory::expire(uint64_t before_ns) {
  std::erase_if(dead_, [&](const CodeMapping& mapping) {
    const bool is_old = mapping.died_ns < before_ns;
    if (is_old) release(mapping);
    return is_old;
  });
}

size_t MappingHistory::memory_bytes() const {
  return sizeof(*this) + (alive_.capacity() + dead_.capacity()) * sizeof(CodeMapping);
}

}  // namespace vesta::agent
