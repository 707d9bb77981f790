#include "unwind/cfi_entries.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/byte_cursor.h"
#include "unwind/cfi_pointer.h"
#include "unwind/cfi_program.h"

namespace vesta {
namespace {

class EntryReader {
 public:
  EntryReader(const CfiSection& section, uint64_t low, uint64_t high) : low_(low), high_(high) {
    out_.section = section;
  }

  CfiEntries read() && {
    ByteCursor cursor(out_.section.bytes);
    while (!cursor.at_end()) {
      const uint64_t entry_offset = cursor.offset();
      uint64_t length = cursor.u32();
      bool is_wide = false;
      if (length == 0xffffffff) {
        length = cursor.u64();
        is_wide = true;
      }
      if (!cursor.ok()) break;
      if (length == 0) {
        // Linked objects may each bring such an end; the section goes on while there is more.
        if (out_.section.ends_at_zero) break;
        continue;
      }
      const uint64_t body_offset = cursor.offset();
      if (length > cursor.remaining()) break;
      cursor.skip(length);
      read_entry(entry_offset, body_offset, length, is_wide);
    }
    return std::move(out_);
  }

 private:
  void read_entry(uint64_t entry_offset, uint64_t body_offset, uint64_t length, bool is_wide) {
    ByteCursor body(out_.section.bytes.substr(body_offset, length));
    // 64-bit lengths go with 64-bit ids in .debug_frame only.
    const bool wide_id = is_wide && out_.section.is_debug_frame;
    const uint64_t id = wide_id ? body.u64() : body.u32();
    if (!body.ok()) return;
    if (!out_.section.is_debug_frame) {
      if (id == 0) return read_cie(body, entry_offset, body_offset);
      if (id > body_offset) return skip();
      return read_fde(body, body_offset - id, body_offset);
    }
    const uint64_t cie_id = wide_id ? std::numeric_limits<uint64_t>::max() : 0xffffffff;
    if (id == cie_id) return read_cie(body, entry_offset, body_offset);
    read_fde(body, id, body_offset);
  }

  void skip() { ++out_.skipped; }

  void read_cie(ByteCursor& body, uint64_t entry_offset, uint64_t body_offset) {
    Cie cie;
    cie.offset = entry_offset;
    cie.is_usable = parse_cie(body, body_offset, cie);
    out_.cies.push_back(cie);
  }

  bool parse_cie(ByteCursor& body, uint64_t body_offset, Cie& cie) {
    const uint8_t version = body.u8();
    if (version != 1 && version != 3 && version != 4) return false;
    const std::string_view augmentation = body.c_string();
    if (augmentation == "eh") body.skip(8);  // GCC 2
    if (version == 4) {
      cie.address_bytes = body.u8();
      const uint8_t segment_bytes = body.u8();
      if (segment_bytes != 0 || (cie.address_bytes != 8 && cie.address_bytes != 4)) return false;
    }
    cie.code_alignment = body.uleb();
    cie.data_alignment = body.sleb();
    cie.return_register = version == 1 ? body.u8() : body.uleb();
    if (!body.ok()) return false;
    if (augmentation.starts_with("z")) {
      cie.has_augmentation_length = true;
      const uint64_t size = body.uleb();
      const uint64_t data_offset = body_offset + body.offset();
      const std::string_view data = body.bytes(size);
      if (!body.ok() || !parse_augmentation(augmentation.substr(1), data, data_offset, cie)) {
        return false;
      }
    } else if (!augmentation.empty() && augmentation != "eh") {
      return false;
    }
    return run_initial_instructions(body.bytes(body.remaining()), out_.section, cie);
  }

  bool parse_augmentation(std::string_view letters, std::string_view data, uint64_t data_offset,
                          Cie& cie) const {
    ByteCursor cursor(data);
    for (const char letter : letters) {
      switch (letter) {
        case 'R':
          cie.pointer_encoding = cursor.u8();
          break;
        case 'L':
          cursor.u8();
          break;
        case 'S':
          cie.is_signal_frame = true;
          break;
        case 'B':
          break;  // aarch64's other pointer key
        case 'P': {
          const uint8_t encoding = cursor.u8();
          if (!skip_pointer(cursor, encoding, out_.section, data_offset)) return false;
          break;
        }
        default:
          // The rest of the data is unknown, but its length is not: go on if what we need is read.
          return cursor.ok();
      }
    }
    return cursor.ok();
  }

  void read_fde(ByteCursor& body, uint64_t cie_offset, uint64_t body_offset) {
    const auto index = find_cie(cie_offset);
    if (!index) return skip();
    const Cie& cie = out_.cies[*index];
    const auto start =
        read_pointer(body, cie.pointer_encoding, cie.address_bytes, out_.section, body_offset);
    if (!start) return skip();
    const auto size = read_pointer_value(body, cie.pointer_encoding, cie.address_bytes);
    // Entries of code that the linker dropped point to address 0 or outside.
    if (!size || *size == 0 || *start < low_ || *start >= high_ || *size > high_ - *start ||
        *size > std::numeric_limits<uint32_t>::max()) {
      return skip();
    }
    if (cie.has_augmentation_length) body.skip(body.uleb());
    if (!body.ok()) return skip();
    Fde fde;
    fde.start = *start;
    fde.size = static_cast<uint32_t>(*size);
    fde.cie = static_cast<uint32_t>(*index);
    fde.instructions_offset = static_cast<uint32_t>(body_offset + body.offset());
    fde.instructions_size = static_cast<uint32_t>(body.remaining());
    out_.fdes.push_back(fde);
  }

  // Only CIEs that the walk has met: a reference to anywhere else could make a few bytes cost the
  // square of their number.
  std::optional<size_t> find_cie(uint64_t offset) {
    if (last_cie_ < out_.cies.size() && out_.cies[last_cie_].offset == offset) return last_cie_;
    const auto found =
        std::lower_bound(out_.cies.begin(), out_.cies.end(), offset,
                         [](const Cie& cie, uint64_t wanted) { return cie.offset < wanted; });
    if (found == out_.cies.end() || found->offset != offset) return std::nullopt;
    last_cie_ = static_cast<size_t>(found - out_.cies.begin());
    return last_cie_;
  }

  uint64_t low_;
  uint64_t high_;
  CfiEntries out_;
  size_t last_cie_ = 0;
};

}  // namespace

Result<CfiEntries> read_cfi_entries(const CfiSection& section, uint64_t low, uint64_t high) {
  if (section.bytes.size() > std::numeric_limits<uint32_t>::max()) {
    return Error{ErrorCode::kLimit, "call frame information of more than 4 GiB", {}};
  }
  return EntryReader(section, low, high).read();
}

}  // namespace vesta
