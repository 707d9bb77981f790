#include "store/covered_time.h"

#include <algorithm>

#include "profile/profile.h"

namespace vesta {
namespace {

// Below this many, putting pieces in order is not worth the call.
constexpr size_t kMinUnsettled = 1024;

}  // namespace

void CoveredTime::add_whole(int64_t duration_ns) {
  whole_ns_ = saturating_add(whole_ns_, duration_ns);
}

void CoveredTime::add(const ProfilePiece& piece) {
  if (piece.origin == 0) return add_whole(piece.duration_ns);
  if (!pieces_.empty() && pieces_.back() == piece) return;
  // Most come in order: series by series, each by time.
  const bool in_order = settled_ == pieces_.size() && (pieces_.empty() || pieces_.back() < piece);
  pieces_.push_back(piece);
  if (in_order) {
    settled_ = pieces_.size();
  } else if (pieces_.size() >= 2 * settled_ + kMinUnsettled) {
    settle();
  }
}

void CoveredTime::add(const CoveredTime& other) {
  add_whole(other.whole_ns_);
  for (const ProfilePiece& piece : other.pieces_) add(piece);
}

void CoveredTime::settle() {
  if (settled_ == pieces_.size()) return;
  const auto middle = pieces_.begin() + static_cast<ptrdiff_t>(settled_);
  std::sort(middle, pieces_.end());
  std::inplace_merge(pieces_.begin(), middle, pieces_.end());
  pieces_.erase(std::unique(pieces_.begin(), pieces_.end()), pieces_.end());
  settled_ = pieces_.size();
}

std::vector<ProfilePiece> CoveredTime::pieces() const {
  CoveredTime copy = *this;
  copy.settle();
  return std::move(copy.pieces_);
}

int64_t CoveredTime::duration_ns() const {
  int64_t sum = whole_ns_;
  const auto add_up = [&](const std::vector<ProfilePiece>& pieces) {
    for (const ProfilePiece& piece : pieces) sum = saturating_add(sum, piece.duration_ns);
  };
  if (settled_ == pieces_.size()) {
    add_up(pieces_);
  } else {
    add_up(pieces());
  }
  return sum;
}

void CoveredTime::add_up_within_service() {
  settle();
  std::erase_if(pieces_, [&](const ProfilePiece& piece) {
    if (has_several_services(piece.origin)) return false;
    add_whole(piece.duration_ns);
    return true;
  });
  settled_ = pieces_.size();
}

}  // namespace vesta
