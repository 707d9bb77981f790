#include "store/rocksdb/record.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace vesta::rocks {
namespace {

constexpr size_t kLinkBytes = sizeof(Link::trace_id) + sizeof(Link::span_id);

uint64_t magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// What all values are multiples of, which is the period of most profiles.
class Scale {
 public:
  void add(int64_t value) {
    divisor_ = std::gcd(divisor_, magnitude(value));
    has_negative_ |= value < 0;
  }
  uint64_t divisor() const { return divisor_ == 0 ? 1 : divisor_; }
  bool has_negative() const { return has_negative_; }
  void put(std::string& out, int64_t value) const {
    const uint64_t count = magnitude(value) / divisor();
    if (!has_negative_) return put_varint(out, count);
    // Zig-zag of a magnitude: 2^63 stays within 64 bits because only -2^63 has it.
    put_varint(out, value < 0 ? (count - 1) << 1 | 1 : count << 1);
  }

 private:
  uint64_t divisor_ = 0;
  bool has_negative_ = false;
};

}  // namespace

void RecordView::put_header(std::string& out, const RecordHeader& header, uint8_t flags,
                            uint64_t scale) {
  if (!header.losses.empty()) flags |= kHasLosses;
  if (header.is_rollup) flags |= kIsRollup;
  out.push_back(static_cast<char>(kVersion));
  out.push_back(static_cast<char>(flags));
  put_signed(out, header.duration_ns);
  put_signed(out, header.period);
  if (header.is_rollup) {
    put_varint(out, header.profiles);
    put_signed(out, header.first_ns);
    put_signed(out, header.last_ns);
  }
  if (!header.losses.empty()) {
    put_varint(out, header.losses.size());
    for (const auto& [reason, count] : header.losses) {
      put_text(out, reason);
      put_varint(out, count);
    }
  }
  put_varint(out, scale);
}

std::string encode_record(const RecordHeader& header, const std::vector<Row>& rows,
                          int64_t base_ns) {
  Scale scale;
  uint8_t flags = 0;
  for (const Row& row : rows) {
    scale.add(row.value);
    if (row.key.labels != 0) flags |= RecordView::kHasLabels;
    if (row.key.link != Link{}) flags |= RecordView::kHasLinks;
    if (row.key.time_ns != 0) flags |= RecordView::kHasTimes;
  }
  if (scale.has_negative()) flags |= RecordView::kIsSigned;
  std::string out;
  out.reserve(32 + rows.size() * 3);
  RecordView::put_header(out, header, flags, scale.divisor());
  put_varint(out, rows.size());
  std::string stacks;
  stacks.reserve(rows.size() * 2);
  StackNumber last = 0;
  for (const Row& row : rows) {
    put_varint(stacks, row.key.stack - last);
    last = row.key.stack;
  }
  put_text(out, stacks);
  for (const Row& row : rows) scale.put(out, row.value);
  if ((flags & RecordView::kHasLabels) != 0)
    for (const Row& row : rows) put_varint(out, row.key.labels);
  if ((flags & RecordView::kHasLinks) != 0) {
    std::vector<Link> links;
    links.reserve(rows.size());
    for (const Row& row : rows) links.push_back(row.key.link);
    std::ranges::sort(links);
    links.erase(std::unique(links.begin(), links.end()), links.end());
    put_varint(out, links.size());
    for (const Link& link : links) {
      out.append(reinterpret_cast<const char*>(link.trace_id.data()), link.trace_id.size());
      out.append(reinterpret_cast<const char*>(link.span_id.data()), link.span_id.size());
    }
    for (const Row& row : rows) {
      const auto at = std::ranges::lower_bound(links, row.key.link);
      put_varint(out, static_cast<uint64_t>(at - links.begin()));
    }
  }
  if ((flags & RecordView::kHasTimes) != 0) {
    // 0 is "not known"; all others count from the start of the profile, plus one step.
    for (const Row& row : rows) {
      const bool known = row.key.time_ns != 0;
      out.push_back(known ? 1 : 0);
      if (known) {
        put_signed(out, static_cast<int64_t>(static_cast<uint64_t>(row.key.time_ns) -
                                             static_cast<uint64_t>(base_ns)));
      }
    }
  }
  return out;
}

std::string encode_rollup(const RecordHeader& header, const std::vector<int64_t>& weights) {
  Scale scale;
  std::string stacks;
  size_t rows = 0;
  StackNumber last = 0;
  for (StackNumber stack = 0; stack < weights.size(); ++stack) {
    if (weights[stack] == 0) continue;
    scale.add(weights[stack]);
    put_varint(stacks, stack - last);
    last = stack;
    ++rows;
  }
  std::string out;
  out.reserve(64 + stacks.size() * 3);
  RecordView::put_header(out, header, scale.has_negative() ? RecordView::kIsSigned : uint8_t{0},
                         scale.divisor());
  put_varint(out, rows);
  put_text(out, stacks);
  for (const int64_t weight : weights)
    if (weight != 0) scale.put(out, weight);
  return out;
}

bool RecordView::parse(std::string_view bytes) {
  VarintReader reader(bytes);
  if (reader.byte() != kVersion) return false;
  flags_ = reader.byte();
  header_.is_rollup = (flags_ & kIsRollup) != 0;
  header_.duration_ns = reader.signed_varint();
  header_.period = reader.signed_varint();
  header_.profiles = 1;
  header_.first_ns = header_.last_ns = 0;
  if (header_.is_rollup) {
    header_.profiles = reader.varint();
    header_.first_ns = reader.signed_varint();
    header_.last_ns = reader.signed_varint();
  }
  header_.losses.clear();
  if ((flags_ & kHasLosses) != 0) {
    const uint64_t count = reader.varint();
    if (count > reader.remaining() / 2) return false;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string_view reason = reader.text();
      header_.losses.emplace_back(reason, reader.varint());
    }
  }
  scale_ = reader.varint();
  const uint64_t rows = reader.varint();
  stacks_ = reader.text();
  // A row takes a byte in both columns at least.
  if (!reader.ok() || rows > stacks_.size() || rows > reader.remaining()) return false;
  rows_ = rows;
  rest_ = reader.bytes(reader.remaining());
  return (flags_ &
          ~uint32_t{kIsSigned | kHasLosses | kHasLabels | kHasLinks | kHasTimes | kIsRollup}) == 0;
}

bool RecordView::read_rows(uint64_t stack_limit, int64_t base_ns, std::vector<Row>& rows) const {
  rows.assign(rows_, Row{});
  VarintReader stacks(stacks_);
  VarintReader rest(rest_);
  uint64_t stack = 0;
  for (Row& row : rows) {
    stack += stacks.varint();
    if (stack >= stack_limit) return false;
    row.key.stack = static_cast<StackNumber>(stack);
    row.value = value_of(rest.varint());
  }
  if (has_labels())
    for (Row& row : rows) row.key.labels = rest.varint32();
  if (has_links()) {
    const uint64_t count = rest.varint();
    if (count > rest.remaining() / kLinkBytes) return false;
    std::vector<Link> links(count);
    for (Link& link : links) {
      const std::string_view raw = rest.bytes(kLinkBytes);
      std::memcpy(link.trace_id.data(), raw.data(), link.trace_id.size());
      std::memcpy(link.span_id.data(), raw.data() + link.trace_id.size(), link.span_id.size());
    }
    for (Row& row : rows) {
      const uint64_t at = rest.varint();
      if (at >= count) return false;
      row.key.link = links[at];
    }
  }
  if (has_times()) {
    for (Row& row : rows) {
      if (rest.byte() == 0) continue;
      row.key.time_ns = static_cast<int64_t>(static_cast<uint64_t>(base_ns) +
                                             static_cast<uint64_t>(rest.signed_varint()));
    }
  }
  return stacks.ok() && rest.ok() && rest.at_end();
}

}  // namespace vesta::rocks
