#include "symbols/dwarf/unit_table.h"

#include <algorithm>
#include <unordered_map>

#include "base/table_hash.h"
#include "symbols/dwarf/dwarf_constants.h"

namespace vesta {
namespace {

// Real chains are declaration, abstract instance, concrete instance.
constexpr int kMaxOriginHops = 16;
constexpr size_t kMaxDieDepth = 1'000'000;
constexpr size_t kMaxQualifiedName = 4096;
constexpr int kMaxScopes = 64;
// What names may cost beside the pass itself, in bytes and attributes looked at: hostile references
// could else make each DIE as dear as the whole section.
constexpr uint64_t kNameWork = 16ULL << 20;
constexpr uint64_t kNameWorkForByte = 8;
// Entries of range lists, beside one for each byte of the unit.
constexpr uint64_t kRangeEntries = 4'000'000;

}  // namespace

// The pass over the DIEs, and then the names of what it found.
class UnitTableBuilder {
 public:
  UnitTableBuilder(DwarfFile& file, const DwarfUnit& unit, uint64_t base,
                   const UnitTable::Limits& limits)
      : file_(file),
        unit_(unit),
        base_(base),
        limits_(limits),
        range_budget_(kRangeEntries + (unit.end - unit.offset)),
        work_(kNameWork + kNameWorkForByte * (unit.end - unit.offset)) {}

  UnitTable build() {
    table_.nodes_.push_back({});
    table_.names_.push_back({});
    scopes_.push_back({});
    abbreviations_ = file_.abbreviations(unit_);
    if (!unit_.split) walk();
    table_.map_ = IntervalMap::build(std::move(intervals_));
    resolve_names();
    table_.nodes_.shrink_to_fit();
    const size_t used = table_.memory_bytes();
    const size_t left = limits_.max_bytes > used ? limits_.max_bytes - used : 0;
    table_.lines_ = LineTable::read(file_, unit_, base_, left / 12);
    return std::move(table_);
  }

 private:
  using Node = UnitTable::Node;
  using Name = UnitTable::Name;

  // What the children of a DIE are inside of.
  struct Ancestor {
    uint32_t scope = 0;  // namespace or class, for names
    uint32_t node = 0;   // function or inlined call
    uint32_t depth = 0;  // of nested calls
  };
  struct Scope {
    uint32_t parent = 0;
    std::string_view name;
  };

  void walk() {
    ByteCursor cursor(file_.info().substr(0, unit_.end), unit_.first_die);
    std::vector<Ancestor> ancestors;
    Ancestor here;
    DieFields fields;
    while (!cursor.at_end()) {
      const uint64_t die = cursor.offset();
      const uint64_t code = cursor.uleb();
      if (code == 0) {
        if (ancestors.empty()) return;
        here = ancestors.back();
        ancestors.pop_back();
        if (ancestors.empty()) return;
        continue;
      }
      const Abbreviation* abbreviation = abbreviations_->find(code);
      if (abbreviation == nullptr) return;
      Ancestor inside = here;
      uint64_t skip_to = 0;
      switch (abbreviation->tag) {
        case dw::kSubprogram:
        case dw::kInlinedSubroutine:
          file_.read_die(cursor, unit_, *abbreviations_, *abbreviation, fields);
          if (!cursor.ok()) return;
          enter_function(die, abbreviation->tag == dw::kInlinedSubroutine, fields, here, inside);
          break;
        case dw::kNamespace:
        case dw::kModule:
        case dw::kClassType:
        case dw::kStructureType:
        case dw::kUnionType:
        case dw::kInterfaceType:
          file_.read_die(cursor, unit_, *abbreviations_, *abbreviation, fields);
          if (!cursor.ok()) return;
          if (abbreviation->children) enter_scope(*abbreviation, fields, inside);
          break;
        case dw::kEnumerationType:
        case dw::kSubroutineType:
          // Nothing inside has code.
          file_.read_die(cursor, unit_, *abbreviations_, *abbreviation, fields);
          skip_to = fields.sibling;
          break;
        default:
          DwarfFile::skip_die(cursor, unit_, *abbreviations_, *abbreviation);
      }
      if (!cursor.ok() || exhausted_) return;
      if (!abbreviation->children) {
        // A unit without children is its first DIE alone.
        if (ancestors.empty()) return;
        continue;
      }
      if (skip_to > cursor.offset() && skip_to < unit_.end) {
        cursor.skip(skip_to - cursor.offset());
        continue;
      }
      if (ancestors.size() >= kMaxDieDepth) return;
      ancestors.push_back(here);
      here = inside;
    }
  }

  void enter_scope(const Abbreviation& abbreviation, const DieFields& fields, Ancestor& inside) {
    std::string_view name = file_.string(unit_, fields.name);
    if (name.empty()) {
      if (abbreviation.tag != dw::kNamespace) return;
      name = "(anonymous namespace)";
    }
    scopes_.push_back({inside.scope, name});
    inside.scope = static_cast<uint32_t>(scopes_.size() - 1);
  }

  void enter_function(uint64_t die, bool inlined, const DieFields& fields, const Ancestor& here,
                      Ancestor& inside) {
    if (!inlined) {
      // Other DIEs refer to this one by its offset for their name; offsets ascend.
      if (fields.name && !fields.linkage_name && here.scope != 0) {
        scope_of_.emplace_back(die, here.scope);
      }
      inside = Ancestor{here.scope, 0, 0};
      if (!fields.low_pc && !fields.ranges) return;
    } else if (here.depth >= limits_.max_inline_depth) {
      return;
    }
    if (!has_room()) return;
    const uint32_t parent = inlined ? here.node : 0;
    const auto node = static_cast<uint32_t>(table_.nodes_.size());
    const uint32_t depth = here.depth + 1;
    const size_t before = intervals_.size();
    add_intervals(fields, node, depth);
    if (intervals_.size() == before && !inlined) return;
    Node added;
    added.parent = parent;
    added.name = inlined ? name_of_origin(fields) : name_id(die, false);
    if (inlined) {
      added.call_file = fields.call_file;
      added.call_line = fields.call_line;
      added.call_column = fields.call_column;
    }
    table_.nodes_.push_back(added);
    inside = Ancestor{here.scope, node, depth};
  }

  void add_intervals(const DieFields& fields, uint32_t node, uint32_t depth) {
    current_ = {0, 0, node, depth};
    file_.for_each_range(unit_, fields, range_budget_, [this](uint64_t start, uint64_t end) {
      if (start < base_ || end - base_ >= 0xFFFFFFFF) return has_room();
      current_.start = static_cast<uint32_t>(start - base_);
      current_.end = static_cast<uint32_t>(end - base_);
      intervals_.push_back(current_);
      return has_room();
    });
  }

  bool has_room() {
    // An interval becomes at most two segments of 8 bytes.
    const size_t bytes = intervals_.size() * (sizeof(Interval) + 16) +
                         table_.nodes_.size() * (sizeof(Node) + sizeof(Name));
    if (bytes > limits_.max_bytes) exhausted_ = true;
    return !exhausted_;
  }

  uint32_t name_of_origin(const DieFields& fields) {
    DwarfFile::Reference origin;
    if (!fields.origin || !DwarfFile::reference(unit_, fields.origin, origin)) return 0;
    return name_id(origin.die, origin.in_alternate);
  }

  uint32_t name_id(uint64_t die, bool in_alternate) {
    const uint64_t key = die << 1 | (in_alternate ? 1 : 0);
    const auto [found, added] = name_ids_.try_emplace(key, static_cast<uint32_t>(wanted_.size()));
    if (added) wanted_.push_back({die, in_alternate});
    return found->second;
  }

  void resolve_names() {
    name_ids_ = {};
    table_.names_.resize(wanted_.size());
    for (size_t i = 1; i < wanted_.size(); ++i) {
      table_.names_[i] = resolve(wanted_[i]);
    }
    table_.names_.shrink_to_fit();
    table_.qualified_.shrink_to_fit();
  }

  // Follows a DIE to where its name is: a linkage name wherever there is one, else the first plain
  // name with the scopes around it.
  Name resolve(DwarfFile::Reference at) {
    DwarfFile* file = &file_;
    std::string_view plain;
    uint64_t plain_die = 0;
    Name name;
    for (int hop = 0; hop < kMaxOriginHops && work_ > 0; ++hop) {
      if (at.in_alternate) {
        // The alternate file refers to itself only.
        file = file == &file_ ? file_.alternate() : nullptr;
        if (file == nullptr) break;
      }
      const bool own = file == &file_ && at.die >= unit_.first_die && at.die < unit_.end;
      DwarfUnit other;
      if (!own && !other_unit(*file, at.die, other)) break;
      const DwarfUnit& unit = own ? unit_ : other;
      const auto abbreviations = own ? abbreviations_ : file->abbreviations(unit);
      ByteCursor cursor(file->info().substr(0, unit.end), at.die);
      const Abbreviation* abbreviation = abbreviations->find(cursor.uleb());
      if (!cursor.ok() || abbreviation == nullptr) break;
      DieFields fields;
      file->read_die(cursor, unit, *abbreviations, *abbreviation, fields);
      spend(cursor.offset() - at.die + abbreviation->attributes + 64);
      if (!cursor.ok()) break;
      if (name.decl_line == 0) name.decl_line = fields.decl_line & 0x7FFFFFFF;
      if (const std::string_view linkage = file->string(unit, fields.linkage_name);
          !linkage.empty()) {
        spend(linkage.size());
        name.text = linkage.data();
        name.size = static_cast<uint32_t>(linkage.size());
        name.linkage = 1;
        return name;
      }
      if (fields.name && plain.empty()) {
        plain = file->string(unit, fields.name);
        plain_die = own ? at.die : 0;
        spend(plain.size());
      } else if (fields.name && own) {
        plain_die = at.die;  // further up is where the scope is
      }
      DwarfFile::Reference next;
      if (!fields.origin || !DwarfFile::reference(unit, fields.origin, next) ||
          (next.die == at.die && !next.in_alternate)) {
        break;
      }
      at = next;
    }
    const std::string_view full = qualify(plain, plain_die);
    name.text = full.data();
    name.size = static_cast<uint32_t>(full.size());
    return name;
  }

  void spend(uint64_t work) { work_ -= std::min(work_, work); }

  // References into one other unit come in groups.
  bool other_unit(DwarfFile& file, uint64_t die, DwarfUnit& unit) {
    if (last_file_ != &file || die < last_unit_.first_die || die >= last_unit_.end) {
      spend(1000);
      last_file_ = nullptr;
      if (!file.unit_of(die, last_unit_)) return false;
      last_file_ = &file;
      if (!file.has_abbreviations(last_unit_)) {
        spend(file.abbreviations(last_unit_)->memory_bytes() / 4);
      }
    }
    unit = last_unit_;
    return true;
  }

  std::string_view qualify(std::string_view plain, uint64_t die) {
    if (plain.empty()) return plain;
    const auto found =
        std::ranges::lower_bound(scope_of_, die, {}, &std::pair<uint64_t, uint32_t>::first);
    if (found == scope_of_.end() || found->first != die) return plain;
    std::string text(plain);
    uint32_t scope = found->second;
    for (int i = 0; scope != 0 && i < kMaxScopes; ++i, scope = scopes_[scope].parent) {
      if (text.size() + scopes_[scope].name.size() > kMaxQualifiedName) break;
      text.insert(0, "::").insert(0, scopes_[scope].name);
    }
    spend(text.size());
    table_.qualified_bytes_ += text.size() + sizeof(std::string);
    return *table_.qualified_.emplace_back(std::make_unique<std::string>(std::move(text)));
  }

  DwarfFile& file_;
  const DwarfUnit& unit_;
  const uint64_t base_;
  const UnitTable::Limits limits_;
  uint64_t range_budget_;
  uint64_t work_;
  std::shared_ptr<const AbbreviationTable> abbreviations_;
  UnitTable table_;
  std::vector<Interval> intervals_;
  Interval current_;
  bool exhausted_ = false;
  std::vector<Scope> scopes_;
  std::vector<std::pair<uint64_t, uint32_t>> scope_of_;  // DIE to scope, by DIE
  std::unordered_map<uint64_t, uint32_t, TableKeyHash> name_ids_;
  std::vector<DwarfFile::Reference> wanted_{{}};  // by name id; 0 is no name
  DwarfFile* last_file_ = nullptr;
  DwarfUnit last_unit_;
};

UnitTable UnitTable::build(DwarfFile& file, const DwarfUnit& unit, uint64_t base,
                           const Limits& limits) {
  return UnitTableBuilder(file, unit, base, limits).build();
}

bool UnitTable::lookup(uint32_t address, std::vector<SourceFrame>& frames) {
  lines_.trim();
  uint32_t node = map_.find(address);
  if (node == 0) return false;
  SourceFrame place;
  find_line(address, place);
  while (node != 0) {
    const Node& at = nodes_[node];
    const Name& name = names_[at.name];
    SourceFrame& frame = frames.emplace_back(place);
    frame.name = name.size != 0 ? std::string_view(name.text, name.size) : kUnnamed;
    frame.linkage_name = name.linkage != 0 ? frame.name : std::string_view();
    frame.start_line = name.decl_line;
    // Where this one was called is where its caller is.
    place.file = lines_.file_name(at.call_file);
    place.line = at.call_line;
    place.column = at.call_column;
    node = at.parent;
  }
  return true;
}

bool UnitTable::find_line(uint32_t address, SourceFrame& frame) {
  LineTable::Place place;
  if (!lines_.find(address, place)) return false;
  frame.file = lines_.file_name(place.file);
  frame.line = place.line;
  frame.column = place.column;
  return true;
}

size_t UnitTable::memory_bytes() const {
  return sizeof(*this) + map_.memory_bytes() + nodes_.capacity() * sizeof(Node) +
         names_.capacity() * sizeof(Name) +
         qualified_.capacity() * sizeof(std::unique_ptr<std::string>) + qualified_bytes_ +
         lines_.memory_bytes();
}

}  // namespace vesta
