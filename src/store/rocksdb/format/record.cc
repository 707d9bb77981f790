#include "store/rocksdb/format/record.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace vesta::rocks {
namespace {

constexpr size_t kLinkBytes = sizeof(Link::trace_id) + sizeof(Link::span_id);

uint64_t magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// Comparing with an empty one would be two calls for each row.
bool is_set(const Link& link) {
  uint64_t words[kLinkBytes / sizeof(uint64_t)];
  std::memcpy(words, link.trace_id.data(), sizeof link.trace_id);
  std::memcpy(words + 2, link.span_id.data(), sizeof link.span_id);
  return (words[0] | words[1] | words[2]) != 0;
}

// What all values are multiples of, which is the period of most profiles.
class Scale {
 public:
  void add(int64_t value) {
    // Most values are multiples of the period, and the first of them tells.
    const uint64_t size = magnitude(value);
    if (divisor_ == 0 || size % divisor_ != 0) divisor_ = std::gcd(divisor_, size);
    has_negative_ |= value < 0;
  }
  uint64_t divisor() const { return divisor_ == 0 ? 1 : divisor_; }
  bool has_negative() const { return has_negative_; }
  uint64_t stored(int64_t value) const {
    const uint64_t count = divisor_ <= 1 ? magnitude(value) : magnitude(value) / divisor_;
    if (!has_negative_) return count;
    // Zig-zag of a magnitude: 2^63 stays within 64 bits because only -2^63 has it.
    return value < 0 ? (count - 1) << 1 | 1 : count << 1;
  }

 private:
  uint64_t divisor_ = 0;
  bool has_negative_ = false;
};

// A column of varints, for which there is room from the start.
class Column {
 public:
  explicit Column(size_t rows) : bytes_(rows * kMaxVarintBytes, '\0'), at_(bytes_.data()) {}
  void add(uint64_t value) { at_ = write_varint(at_, value); }
  std::string_view view() const {
    return {bytes_.data(), static_cast<size_t>(at_ - bytes_.data())};
  }
  void clear() { at_ = bytes_.data(); }

 private:
  std::string bytes_;
  char* at_;
};

void put_origin(std::string& out, PieceOrigin origin) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    out.push_back(static_cast<char>(origin >> shift));
}

PieceOrigin read_origin(VarintReader& reader) {
  PieceOrigin origin = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) origin |= PieceOrigin{reader.byte()} << shift;
  return origin;
}

int64_t wrapping_subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Of a roll-up, origin by origin: starts from the one before, and durations likewise, so that
// profiles of one length at equal distances are the same few bytes again and again.
void put_pieces(std::string& out, const RecordHeader& header) {
  if (!header.is_rollup) return put_origin(out, header.origin);
  const auto& pieces = header.pieces;
  for (size_t i = 0; i < pieces.size();) {
    size_t end = i;
    while (end < pieces.size() && pieces[end].origin == pieces[i].origin) ++end;
    put_varint(out, end - i);
    put_origin(out, pieces[i].origin);
    ProfilePiece last{0, header.first_ns, 0};
    for (; i < end; ++i) {
      put_signed(out, wrapping_subtract(pieces[i].time_ns, last.time_ns));
      put_signed(out, wrapping_subtract(pieces[i].duration_ns, last.duration_ns));
      last = pieces[i];
    }
  }
  put_varint(out, 0);
}

bool read_pieces(VarintReader& reader, RecordHeader& header) {
  if (!header.is_rollup) {
    header.origin = read_origin(reader);
    return reader.ok();
  }
  for (uint64_t count = reader.varint(); count != 0; count = reader.varint()) {
    ProfilePiece piece{read_origin(reader), header.first_ns, 0};
    if (count > reader.remaining() / 2) return false;
    for (; count != 0; --count) {
      piece.time_ns = wrapping_add(piece.time_ns, reader.signed_varint());
      piece.duration_ns = wrapping_add(piece.duration_ns, reader.signed_varint());
      header.pieces.push_back(piece);
    }
  }
  return reader.ok();
}

}  // namespace

void RecordView::put_header(std::string& out, const RecordHeader& header, uint8_t flags,
                            uint64_t scale) {
  if (!header.losses.empty()) flags |= kHasLosses;
  if (header.is_rollup) flags |= kIsRollup;
  const bool has_pieces = header.is_rollup ? !header.pieces.empty() : header.origin != 0;
  if (has_pieces) flags |= kHasPieces;
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
  if (has_pieces) put_pieces(out, header);
  put_varint(out, scale);
}

std::string encode_record(const RecordHeader& header, const std::vector<Row>& rows,
                          int64_t base_ns) {
  Scale scale;
  uint8_t flags = 0;
  for (const Row& row : rows) {
    scale.add(row.value);
    if (row.key.labels != 0) flags |= RecordView::kHasLabels;
    if (is_set(row.key.link)) flags |= RecordView::kHasLinks;
    if (row.key.time_ns != 0) flags |= RecordView::kHasTimes;
  }
  if (scale.has_negative()) flags |= RecordView::kIsSigned;
  std::string out;
  out.reserve(32 + rows.size() * 3);
  RecordView::put_header(out, header, flags, scale.divisor());
  put_varint(out, rows.size());
  Column column(rows.size());
  uint32_t last = 0;
  for (const Row& row : rows) {
    column.add(row.key.stack.value - last);
    last = row.key.stack.value;
  }
  put_text(out, column.view());
  column.clear();
  for (const Row& row : rows) column.add(scale.stored(row.value));
  out += column.view();
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
  size_t rows = 0;
  for (const int64_t weight : weights) {
    if (weight == 0) continue;
    scale.add(weight);
    ++rows;
  }
  Column column(rows);
  uint32_t last = 0;
  for (const StackNumber stack : Ids<StackNumber>(0, weights.size())) {
    if (weights[stack.index()] == 0) continue;
    column.add(stack.value - last);
    last = stack.value;
  }
  std::string out;
  out.reserve(64 + rows * 4);
  RecordView::put_header(out, header, scale.has_negative() ? RecordView::kIsSigned : uint8_t{0},
                         scale.divisor());
  put_varint(out, rows);
  put_text(out, column.view());
  column.clear();
  for (const int64_t weight : weights)
    if (weight != 0) column.add(scale.stored(weight));
  out += column.view();
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
  header_.origin = 0;
  header_.pieces.clear();
  if ((flags_ & kHasPieces) != 0 && !read_pieces(reader, header_)) return false;
  scale_ = reader.varint();
  const uint64_t rows = reader.varint();
  stacks_ = reader.text();
  // A row takes a byte in both columns at least.
  if (!reader.ok() || rows > stacks_.size() || rows > reader.remaining()) return false;
  rows_ = rows;
  rest_ = reader.bytes(reader.remaining());
  return (flags_ & ~uint32_t{kIsSigned | kHasLosses | kHasLabels | kHasLinks | kHasTimes |
                             kIsRollup | kHasPieces}) == 0;
}

bool RecordView::read_rows(uint64_t stack_limit, int64_t base_ns, std::vector<Row>& rows) const {
  rows.assign(rows_, Row{});
  VarintReader stacks(stacks_);
  VarintReader rest(rest_);
  uint64_t stack = 0;
  for (Row& row : rows) {
    stack += stacks.varint();
    if (stack >= stack_limit) return false;
    row.key.stack = StackNumber(stack);
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
