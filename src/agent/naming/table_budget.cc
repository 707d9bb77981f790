#include "agent/naming/table_budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vesta::agent {
namespace {

// After so many rounds without one, earlier uses count half.
constexpr double kHalfLife = 16;

}  // namespace

double TableBudget::uses_now(const Table& table) const {
  return table.uses * std::exp2(-static_cast<double>(round_ - table.last_round) / kHalfLife);
}

bool TableBudget::is_guest(uint32_t table) const {
  return std::ranges::find(guests_, table) != guests_.end();
}

uint64_t TableBudget::guest_bytes() const {
  uint64_t sum = 0;
  for (const uint32_t guest : guests_) sum += tables_.at(guest).bytes;
  return sum;
}

void TableBudget::use(uint32_t table) {
  if (const auto guest = std::ranges::find(guests_, table); guest != guests_.end())
    std::rotate(guest, guest + 1, guests_.end());
  Table& used = tables_[table];
  if (used.last_round == round_) return;
  used.uses = uses_now(used) + 1;
  used.last_round = round_;
}

void TableBudget::shut(uint32_t table) {
  Table& closing = tables_.at(table);
  bytes_ -= std::exchange(closing.bytes, 0);
  --open_;
  std::erase(guests_, table);
}

void TableBudget::close(uint32_t table) {
  const auto found = tables_.find(table);
  if (found != tables_.end() && found->second.bytes != 0) shut(table);
}

void TableBudget::forget(uint32_t table) {
  close(table);
  tables_.erase(table);
}

bool TableBudget::admit(uint32_t table, double uses) {
  const uint64_t wanted = tables_.at(table).bytes;
  if (wanted > max_bytes_) return false;
  // Without the table itself, which may have a place already.
  uint64_t placed = placed_bytes() - (is_guest(table) ? 0 : wanted);
  std::vector<std::pair<double, uint32_t>> lesser;
  for (const auto& [id, other] : tables_) {
    if (id == table || other.bytes == 0 || is_guest(id)) continue;
    if (const double theirs = uses_now(other); theirs < uses) lesser.emplace_back(theirs, id);
  }
  std::ranges::sort(lesser);
  size_t count = 0;
  for (; count < lesser.size() && placed + wanted > max_bytes_; ++count)
    placed -= tables_.at(lesser[count].second).bytes;
  if (placed + wanted > max_bytes_) return false;
  std::erase(guests_, table);
  for (size_t i = 0; i < count; ++i) invite(lesser[i].second);
  return true;
}

// The last guest is the one that was asked last, which stays.
void TableBudget::invite(uint32_t table) {
  std::erase(guests_, table);
  guests_.push_back(table);
  while (guests_.size() > 1 && guest_bytes() > max_bytes_ / kGuestPart) {
    closed_.push_back(guests_.front());
    shut(guests_.front());
  }
}

std::span<const uint32_t> TableBudget::resize(uint32_t table, uint64_t bytes) {
  closed_.clear();
  Table& resized = tables_[table];
  bytes = std::max<uint64_t>(bytes, 1);  // 0 means closed
  if (resized.bytes == 0) ++open_;
  bytes_ += bytes - resized.bytes;
  const bool is_same = resized.bytes == bytes;
  resized.bytes = bytes;
  if (is_guest(table)) {
    // Asks for a place once in a round, when it may have been used more than others by now.
    const bool has_asked = resized.admission_round == round_;
    resized.admission_round = round_;
    if (has_asked || !admit(table, uses_now(resized))) invite(table);
  } else if (!is_same && placed_bytes() > max_bytes_) {
    resized.admission_round = round_;
    if (!admit(table, uses_now(resized))) invite(table);
  }
  return closed_;
}

std::span<const uint32_t> TableBudget::set_max_bytes(uint64_t max_bytes) {
  closed_.clear();
  max_bytes_ = max_bytes;
  std::vector<std::pair<double, uint32_t>> order;
  for (const auto& [id, table] : tables_) {
    if (table.bytes != 0) order.emplace_back(uses_now(table), id);
  }
  std::ranges::sort(order);
  for (size_t i = 0; i < order.size() && bytes_ > max_bytes_; ++i) {
    shut(order[i].second);
    closed_.push_back(order[i].second);
  }
  return closed_;
}

}  // namespace vesta::agent
