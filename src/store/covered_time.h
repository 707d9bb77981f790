// How much time profiles cover. A profile whose samples' labels made several series of it was
// stored in pieces, which cover the same time: it counts once, whichever of its pieces are meant.
// Plain value; not shared between threads while it is added to.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vesta {

// Whose profile a piece was cut from: a hash of the labels that all pieces share. Pieces with the
// same origin, start and duration are of one profile. 0: a whole profile.
using PieceOrigin = uint64_t;

// The lowest bit tells whether pieces of one profile went to several services.
constexpr PieceOrigin piece_origin(uint64_t hash, bool has_several_services) {
  return (hash & ~uint64_t{1}) == 0 ? PieceOrigin{2} | (has_several_services ? 1 : 0)
                                    : (hash & ~uint64_t{1}) | (has_several_services ? 1 : 0);
}
constexpr bool has_several_services(PieceOrigin origin) {
  return (origin & 1) != 0;
}

struct ProfilePiece {
  PieceOrigin origin = 0;
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  friend auto operator<=>(const ProfilePiece&, const ProfilePiece&) = default;
};

class CoveredTime {
 public:
  void add_whole(int64_t duration_ns);
  // As above when the origin is 0.
  void add(const ProfilePiece& piece);
  void add(const CoveredTime& other);

  // Of whole profiles, and of each that there are pieces of, once. Saturates.
  int64_t duration_ns() const;

  // For those who keep it: what is known of whole profiles, and all pieces in order, each once.
  int64_t whole_ns() const { return whole_ns_; }
  std::vector<ProfilePiece> pieces() const;
  // REQUIRES: all pieces of a service are here that start in some range. Those of which no other
  // service has a piece are added up and forgotten.
  void add_up_within_service();

  size_t byte_size() const { return pieces_.size() * sizeof(ProfilePiece); }

 private:
  void settle();

  int64_t whole_ns_ = 0;
  std::vector<ProfilePiece> pieces_;
  size_t settled_ = 0;  // so many are in order, each once
};

}  // namespace vesta
