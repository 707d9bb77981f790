// Decides which symbol tables stay open within a budget of bytes. A table counts by the rounds in
// which it was asked, old ones less and less, so that one that is used all the time is not closed
// for one that is used once. Those that do not earn a place are guests: they have a quarter of the
// budget more, the longest unused goes first, and one of them may be of any size. Knows tables by
// number alone. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace vesta::agent {

class TableBudget {
 public:
  static constexpr uint64_t kGuestPart = 4;

  explicit TableBudget(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Something was looked up in it, whether it is open already or is about to be.
  void use(uint32_t table);
  // It is open and takes so much. Returns the tables to close, which count as closed from here on;
  // never `table` itself. Valid until the next call.
  std::span<const uint32_t> resize(uint32_t table, uint64_t bytes);
  // Closed for another reason; its uses are remembered.
  void close(uint32_t table);
  void forget(uint32_t table);
  // A round has passed.
  void age() { ++round_; }

  // Returns the tables to close.
  std::span<const uint32_t> set_max_bytes(uint64_t max_bytes);

  uint64_t max_bytes() const { return max_bytes_; }
  uint64_t bytes() const { return bytes_; }  // of all that are open
  uint64_t open_tables() const { return open_; }

 private:
  struct Table {
    double uses = 0;  // as of last_round
    uint64_t last_round = 0;
    uint64_t admission_round = 0;  // in which it last asked for a place
    uint64_t bytes = 0;            // 0 while closed
  };

  double uses_now(const Table& table) const;
  bool is_guest(uint32_t table) const;
  uint64_t guest_bytes() const;
  uint64_t placed_bytes() const { return bytes_ - guest_bytes(); }
  void shut(uint32_t table);
  // Makes room for it among those that are used less; false when that is not enough.
  bool admit(uint32_t table, double uses);
  void invite(uint32_t table);

  uint64_t max_bytes_;
  std::unordered_map<uint32_t, Table> tables_;
  std::vector<uint32_t> guests_;  // longest unused first
  uint64_t bytes_ = 0;
  uint64_t open_ = 0;
  uint64_t round_ = 1;
  std::vector<uint32_t> closed_;  // scratch
};

}  // namespace vesta::agent
