#include "formats/otlp/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace vesta::otlp {
namespace {

constexpr std::string_view kMixedHint =
    "the file is damaged, or files of several senders were joined; try --otlp-layout 1.8, 1.9 or "
    "1.10";

// A packed or unpacked list inside a sample: what can be said without knowing its meaning.
struct ListShape {
  size_t count = 0;
  bool fits_attributes = true;  // every item is a position in attribute_table, none twice
};

// The samples of a message sorted by which numbering they can have.
struct Evidence {
  size_t wire_old = 0;   // wire types only 1.8 and 1.9 have
  size_t wire_new = 0;   // wire types only 1.10 has
  size_t valid_old = 0;  // wire types say nothing, but only the old reading is legal
  size_t valid_new = 0;
  size_t both = 0;  // legal either way
  size_t first_both_offset = 0;
  bool has_1_8_fields = false;
};

class LayoutFinder {
 public:
  explicit LayoutFinder(Decoding& decoding) : decoding_(decoding) {}

  bool scan(std::string_view message) {
    WireReader top(message);
    size_t resource = 0;
    while (top.next()) {
      if (top.is(1, WireType::kBytes)) {
        const Decoding::Part part(decoding_, "resource_profiles", resource++);
        if (!scan_scopes(top.message())) return false;
      } else if (top.is(2, WireType::kBytes)) {
        dictionary_ = top.message();
      } else {
        top.skip();
      }
      if (!decoding_.well_formed(top)) return false;
    }
    return decoding_.well_formed(top);
  }

  bool is_1_7() const { return is_1_7_; }

  bool decide(Layout& layout) {
    const Evidence& e = evidence_;
    if (e.has_1_8_fields) {
      if (e.wire_new > 0) return refuse_mixed("profiles as in 1.8, samples as in 1.10");
      layout = kLayout1_8;
      return true;
    }
    if (e.wire_old > 0 && e.wire_new > 0)
      return refuse_mixed("some samples have the numbering of 1.9, some that of 1.10");
    if (e.wire_old > 0 || e.wire_new > 0) {
      layout = e.wire_old > 0 ? kLayout1_9 : kLayout1_10;
      return true;
    }
    if (e.valid_old > 0 && e.valid_new > 0)
      return refuse_mixed("some samples are legal in 1.9 only, some in 1.10 only");
    if (e.valid_old > 0 || e.both == 0) {
      layout = e.valid_old > 0 ? kLayout1_9 : kLayout1_10;
      return true;
    }
    if (e.valid_new > 0) {
      layout = kLayout1_10;
      return true;
    }
    return decide_by_attributes(layout);
  }

 private:
  bool scan_scopes(WireReader resource) {
    size_t scope = 0;
    while (resource.next()) {
      if (!resource.is(2, WireType::kBytes)) {
        resource.skip();
        continue;
      }
      const Decoding::Part part(decoding_, "scope_profiles", scope++);
      WireReader profiles = resource.message();
      size_t profile = 0;
      while (profiles.next()) {
        if (!profiles.is(2, WireType::kBytes)) {
          profiles.skip();
          continue;
        }
        const Decoding::Part profile_part(decoding_, "profiles", profile++);
        if (!scan_profile(profiles.message())) return false;
      }
      if (!decoding_.well_formed(profiles)) return false;
    }
    return decoding_.well_formed(resource);
  }

  bool scan_profile(WireReader profile) {
    size_t sample_types = 0;
    size_t sample = 0;
    bool has_format = false;  // field 9 as bytes
    bool has_10 = false;
    while (profile.next()) {
      const WireType type = profile.type();
      switch (profile.field()) {
        case 1:
          if (type == WireType::kBytes) {
            if (++sample_types > 1) return found_1_7();
            WireReader value_type = profile.message();
            while (value_type.next()) {
              if (value_type.is(3, WireType::kVarint)) evidence_.has_1_8_fields = true;
              value_type.skip();
            }
            if (!decoding_.well_formed(value_type)) return false;
            continue;
          }
          break;
        case 2:
          if (type == WireType::kFixed64) return refuse_old(profile, "1.3");
          if (type == WireType::kBytes) {
            const Decoding::Part part(decoding_, "samples", sample++);
            if (!scan_sample(profile.message())) return false;
            continue;
          }
          break;
        case 3:
        case 6:
          if (type == WireType::kBytes) return found_1_7();
          break;
        case 5:
          if (type == WireType::kVarint) return found_1_7();
          break;
        case 7:
          if (type == WireType::kVarint) return found_1_7();
          if (type == WireType::kBytes) {
            // 1.9 and later keep the profile id here: 16 bytes or none. 1.8 keeps comments.
            const size_t length = profile.bytes().size();
            if (length != 0 && length != 16) evidence_.has_1_8_fields = true;
            continue;
          }
          break;
        case 8:
          if (type == WireType::kBytes && !profile.bytes().empty()) evidence_.has_1_8_fields = true;
          if (type == WireType::kBytes) continue;
          break;
        case 9:
          if (type == WireType::kVarint) evidence_.has_1_8_fields = true;
          if (type == WireType::kBytes) has_format = true;
          break;
        case 10:
          has_10 = true;
          break;
        case 11:
          if (type == WireType::kBytes) note_profile_attributes(profile.message());
          if (type == WireType::kBytes) continue;
          break;
        case 12:
          evidence_.has_1_8_fields = true;
          break;
        default:
          break;
      }
      profile.skip();
    }
    // A payload and its format come together; a lone field 10 is the format of 1.8.
    if (has_10 && !has_format) evidence_.has_1_8_fields = true;
    return decoding_.well_formed(profile);
  }

  bool scan_sample(WireReader sample) {
    bool has_list_2 = false;
    bool has_times = false;
    size_t times = 0;
    bool old = false;
    bool is_new = false;
    bool varint_2 = false;
    ListShape list;
    scratch_.clear();
    size_t offset = 0;
    while (sample.next()) {
      const WireType type = sample.type();
      if (sample.field() == 2) offset = sample.offset();
      if (type == WireType::kBytes) {
        const uint32_t field = sample.field();
        WireReader value = sample.message();
        if (!sample.ok()) break;
        if (value.at_end()) continue;  // an empty list says nothing
        if (field == 2) {
          has_list_2 = true;
          while (!value.at_end()) note_item(list, value.read_varint());
          if (!value.ok()) return decoding_.fail(sample.offset(), "", value.problem());
        } else if (field == 3) {
          if (varint_2) return found_1_7();
          old = true;
        } else if (field == 4) {
          is_new = true;
        } else if (field == 5) {
          has_times = true;
          times += value.remaining() / 8;
        }
        continue;
      }
      if (type == WireType::kVarint && sample.field() == 2) {
        varint_2 = has_list_2 = true;
        note_item(list, sample.varint());
        continue;
      }
      if (type == WireType::kVarint && sample.field() == 3) is_new = true;
      if (type == WireType::kVarint && sample.field() == 4) old = true;
      if (type == WireType::kFixed64 && sample.field() == 5) {
        has_times = true;
        ++times;
      }
      sample.skip();
    }
    if (!decoding_.well_formed(sample)) return false;
    if (old || is_new) {
      evidence_.wire_old += old;
      evidence_.wire_new += is_new;
      return true;
    }
    if (!has_list_2) return true;  // reads the same either way
    const bool old_is_legal = has_times ? list.count == times : list.count == 1;
    const bool new_is_legal = has_times && list.fits_attributes && !has_repeats();
    if (old_is_legal && new_is_legal) {
      if (evidence_.both++ == 0) evidence_.first_both_offset = offset;
      for (const uint64_t attribute : scratch_) mark(used_by_samples_, attribute);
    } else {
      evidence_.valid_old += old_is_legal;
      evidence_.valid_new += new_is_legal;
    }
    return true;
  }

  void note_item(ListShape& list, uint64_t value) {
    ++list.count;
    if (value == 0 || value >= decoding_.sizes.attributes) list.fits_attributes = false;
    if (list.fits_attributes) scratch_.push_back(value);
  }

  bool has_repeats() {
    std::ranges::sort(scratch_);
    return std::ranges::adjacent_find(scratch_) != scratch_.end();
  }

  void mark(std::vector<bool>& set, uint64_t attribute) const {
    if (attribute >= decoding_.sizes.attributes) return;
    if (set.empty()) set.resize(decoding_.sizes.attributes);
    set[attribute] = true;
  }
  static bool marked(const std::vector<bool>& set, size_t attribute) {
    return attribute < set.size() && set[attribute];
  }

  void note_profile_attributes(WireReader list) {
    while (!list.at_end()) mark(used_by_profiles_, list.read_varint());
  }

  // Attributes of mappings (field 5) and locations (field 4).
  void note_dictionary_attributes() {
    WireReader tables = dictionary_;
    while (tables.next()) {
      const bool is_mapping = tables.is(1, WireType::kBytes);
      if (!is_mapping && !tables.is(2, WireType::kBytes)) {
        tables.skip();
        continue;
      }
      WireReader entry = tables.message();
      while (entry.next()) {
        if (entry.field() == (is_mapping ? 5u : 4u) && entry.type() == WireType::kBytes) {
          WireReader list = entry.message();
          while (!list.at_end()) mark(used_by_tables_, list.read_varint());
        } else {
          entry.skip();
        }
      }
    }
  }

  // Both readings are legal for every sample: field 2 holds either values or attributes. The
  // dictionary tells which, because its entries exist to be used.
  bool decide_by_attributes(Layout& layout) {
    note_dictionary_attributes();
    bool orphans_if_old = false;
    bool orphans_if_new = false;
    bool new_reuses_only_table_attributes = true;
    for (size_t i = 1; i < decoding_.sizes.attributes; ++i) {
      const bool used = marked(used_by_tables_, i) || marked(used_by_profiles_, i);
      const bool by_samples = marked(used_by_samples_, i);
      if (!used) orphans_if_old = true;
      if (!used && !by_samples) orphans_if_new = true;
      if (by_samples && !marked(used_by_tables_, i)) new_reuses_only_table_attributes = false;
    }
    if (orphans_if_old && !orphans_if_new) {
      layout = kLayout1_10;
      return true;
    }
    if (new_reuses_only_table_attributes) {
      layout = kLayout1_9;
      return true;
    }
    return decoding_.fail(
        evidence_.first_both_offset, "",
        "field 2 of the samples can be values (OTLP 1.9) or attributes (1.10), and both readings "
        "are legal",
        "choose with --otlp-layout 1.9 or --otlp-layout 1.10");
  }

  // Stops the scan: everything else is decided once the message is rewritten.
  bool found_1_7() {
    is_1_7_ = true;
    return false;
  }

  bool refuse_old(const WireReader& reader, std::string_view release) {
    return refuse_old_release(decoding_, reader, release);
  }

  bool refuse_mixed(std::string_view what) { return decoding_.fail(0, "", what, kMixedHint); }

  Decoding& decoding_;
  Evidence evidence_;
  bool is_1_7_ = false;
  WireReader dictionary_;
  std::vector<bool> used_by_samples_;
  std::vector<bool> used_by_profiles_;
  std::vector<bool> used_by_tables_;
  std::vector<uint64_t> scratch_;
};

}  // namespace

bool refuse_old_release(Decoding& decoding, const WireReader& reader, std::string_view release) {
  return decoding.fail(
      reader.offset(), "",
      fmt::format("field {} has the shape of OTLP profiles {}, which Vesta does not read",
                  reader.field(), release),
      "upgrade the sender to one built with opentelemetry-proto 1.10 or later (1.7 to 1.9 are "
      "read too)");
}

bool find_layout(Decoding& decoding, std::string_view message, Layout& layout, bool& is_1_7) {
  switch (decoding.options().otlp_layout) {
    case OtlpLayout::kV1_8:
      layout = kLayout1_8;
      return true;
    case OtlpLayout::kV1_9:
      layout = kLayout1_9;
      return true;
    case OtlpLayout::kV1_10:
      layout = kLayout1_10;
      return true;
    case OtlpLayout::kAuto:
      break;
  }
  LayoutFinder finder(decoding);
  if (finder.scan(message)) return finder.decide(layout);
  is_1_7 = finder.is_1_7();
  return false;
}

}  // namespace vesta::otlp
