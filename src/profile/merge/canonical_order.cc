#include "profile/merge/canonical_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "profile/list_table.h"

namespace vesta {
namespace {

auto key_of(const Function& f) {
  return std::tuple(f.name, f.system_name, f.file, f.start_line);
}
auto key_of(const Mapping& m) {
  return std::tuple(m.file, m.build_id, m.start, m.limit, m.file_offset, m.has_functions,
                    m.has_filenames, m.has_line_numbers, m.has_inline_frames);
}
auto key_of(const Line& l) {
  return std::tuple(l.function, l.line, l.column);
}
auto key_of(const Location& l) {
  return std::tuple(l.mapping, l.address, l.kind, l.is_folded);
}
auto key_of(const Label& l) {
  return std::tuple(l.key, l.kind, l.text, l.number, l.unit);
}
auto key_of(const SampleType& t) {
  return std::tuple(t.type, t.unit, t.temporality);
}

template <class T>
int compare(std::span<const T> a, std::span<const T> b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    const auto left = key_of(a[i]);
    const auto right = key_of(b[i]);
    if (left != right) return left < right ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

// The entries of one table that are in use, and where they go.
template <class Id>
class Positions {
 public:
  explicit Positions(size_t size) : new_(size) {}

  // True the first time. The empty entry is always in use and stays where it is.
  bool use(Id id) {
    if (!id || new_[id.index()]) return false;
    new_[id.index()] = Id(1);
    used_.push_back(id);
    return true;
  }
  // `less` compares entries by their old ids.
  template <class Less>
  void sort(Less&& less) {
    std::sort(used_.begin(), used_.end(), less);
    number();
  }
  // Old ids in new order; the empty entry is not among them.
  const std::vector<Id>& used() const { return used_; }
  Id operator[](Id id) const { return new_[id.index()]; }

  // Takes an order that was found elsewhere.
  void set_order(std::vector<Id> order) {
    used_ = std::move(order);
    number();
  }

 private:
  void number() {
    for (size_t i = 0; i < used_.size(); ++i) new_[used_[i].index()] = Id(i + 1);
  }
  std::vector<Id> new_;
  std::vector<Id> used_;
};

class Sorter {
 public:
  Sorter(const ProfileBatch& batch, MappingId main_mapping)
      : from_(batch.dictionary),
        batch_(batch),
        main_mapping_(main_mapping),
        strings_(from_.strings.size()),
        functions_(from_.functions.size()),
        mappings_(from_.mappings.size()),
        locations_(from_.locations.size()),
        stacks_(from_.stacks.size()),
        label_sets_(from_.label_sets.size()),
        links_(from_.links.size()) {}

  CanonicalBatch run() {
    for (const Profile& profile : batch_.profiles) use(profile);
    use(main_mapping_);
    sort_strings();
    sort_functions();
    sort_mappings();
    sort_locations();
    sort_stacks();
    sort_label_sets();
    sort_links();
    sort_profiles();
    return std::move(out_);
  }

 private:
  Dictionary& to() { return out_.batch.dictionary; }

  void use(const SampleType& type) {
    strings_.use(type.type);
    strings_.use(type.unit);
  }
  void use(MappingId id) {
    if (!mappings_.use(id)) return;
    strings_.use(from_.mapping(id).file);
    strings_.use(from_.mapping(id).build_id);
  }
  void use(FunctionId id) {
    if (!functions_.use(id)) return;
    const Function& f = from_.function(id);
    for (const StringId text : {f.name, f.system_name, f.file}) strings_.use(text);
  }
  void use(LocationId id) {
    if (!locations_.use(id)) return;
    use(from_.location(id).mapping);
    for (const Line& line : from_.lines[id]) use(line.function);
  }
  void use(LabelSetId id) {
    if (!label_sets_.use(id)) return;
    for (const Label& label : from_.label_sets[id]) {
      for (const StringId text : {label.key, label.text, label.unit}) strings_.use(text);
    }
  }
  void use(const Profile& p) {
    for (const StringId text : {p.name, p.doc_url, p.drop_frames, p.keep_frames})
      strings_.use(text);
    use(p.period_type);
    for (const SampleType& type : p.sample_types) use(type);
    for (const StringId comment : p.comments) strings_.use(comment);
    for (const Loss& loss : p.losses) strings_.use(loss.reason);
    use(p.resource);
    for (const StackId stack : p.samples.stacks) {
      if (!stacks_.use(stack)) continue;
      for (const LocationId location : from_.stacks[stack]) use(location);
    }
    for (const LabelSetId labels : p.samples.labels) use(labels);
    for (const LinkId link : p.samples.links) links_.use(link);
  }

  SampleType moved(SampleType t) const {
    t.type = strings_[t.type];
    t.unit = strings_[t.unit];
    return t;
  }
  Function moved(Function f) const {
    f.name = strings_[f.name];
    f.system_name = strings_[f.system_name];
    f.file = strings_[f.file];
    return f;
  }
  Mapping moved(Mapping m) const {
    m.file = strings_[m.file];
    m.build_id = strings_[m.build_id];
    return m;
  }
  Location moved(Location l) const {
    l.mapping = mappings_[l.mapping];
    return l;
  }
  Line moved(Line l) const {
    l.function = functions_[l.function];
    return l;
  }
  Label moved(Label l) const {
    l.key = strings_[l.key];
    l.text = strings_[l.text];
    l.unit = strings_[l.unit];
    return l;
  }

  void sort_strings() {
    strings_.sort([&](StringId a, StringId b) { return from_.string(a) < from_.string(b); });
    size_t bytes = 0;
    for (const StringId id : strings_.used()) bytes += from_.string(id).size();
    to().strings.reserve(strings_.used().size() + 1, bytes);
    for (const StringId id : strings_.used()) to().strings.add(from_.string(id));
  }

  void sort_functions() {
    functions_.sort([&](FunctionId a, FunctionId b) {
      return key_of(moved(from_.function(a))) < key_of(moved(from_.function(b)));
    });
    for (const FunctionId id : functions_.used())
      to().functions.push_back(moved(from_.function(id)));
  }

  void sort_mappings() {
    mappings_.sort([&](MappingId a, MappingId b) {
      if ((a == main_mapping_) != (b == main_mapping_)) return a == main_mapping_;
      return key_of(moved(from_.mapping(a))) < key_of(moved(from_.mapping(b)));
    });
    for (const MappingId id : mappings_.used()) to().mappings.push_back(moved(from_.mapping(id)));
  }

  void sort_locations() {
    locations_.sort([&](LocationId a, LocationId b) {
      const auto left = key_of(moved(from_.location(a)));
      const auto right = key_of(moved(from_.location(b)));
      if (left != right) return left < right;
      const auto left_lines = from_.lines[a];
      const auto right_lines = from_.lines[b];
      return std::ranges::lexicographical_compare(
          left_lines, right_lines,
          [&](const Line& x, const Line& y) { return key_of(moved(x)) < key_of(moved(y)); });
    });
    for (const LocationId id : locations_.used()) {
      to().locations.push_back(moved(from_.location(id)));
      for (const Line& line : from_.lines[id]) to().lines.push(moved(line));
      to().lines.close();
    }
  }

  void sort_stacks() {
    // By hash, because there are many and they are long; by content where hashes collide.
    struct Entry {
      uint64_t hash;
      StackId id;
    };
    std::vector<Entry> entries;
    entries.reserve(stacks_.used().size());
    size_t items = 0;
    std::vector<LocationId> a;
    std::vector<LocationId> b;
    const auto move = [&](StackId id, std::vector<LocationId>& out) {
      out.clear();
      for (const LocationId location : from_.stacks[id]) out.push_back(locations_[location]);
    };
    for (const StackId id : stacks_.used()) {
      move(id, a);
      items += a.size();
      entries.push_back({hash64_of(std::span<const LocationId>(a)), id});
    }
    std::sort(entries.begin(), entries.end(), [&](const Entry& left, const Entry& right) {
      if (left.hash != right.hash || left.id == right.id) return left.hash < right.hash;
      move(left.id, a);
      move(right.id, b);
      return a < b;
    });
    std::vector<StackId> order;
    order.reserve(entries.size());
    for (const Entry& entry : entries) order.push_back(entry.id);
    stacks_.set_order(std::move(order));
    to().stacks.reserve(entries.size(), items);
    for (const Entry& entry : entries) {
      const auto stack = from_.stacks[entry.id];
      std::ranges::transform(stack, to().stacks.extend(stack.size()).begin(),
                             [&](LocationId location) { return locations_[location]; });
      to().stacks.close();
    }
  }

  void sort_label_sets() {
    ListTable<LabelSetId, Label> sets;  // moved, each sorted
    std::vector<LabelSetId> place(from_.label_sets.size());
    for (const LabelSetId id : label_sets_.used()) {
      for (const Label& label : from_.label_sets[id]) sets.push(moved(label));
      std::ranges::sort(sets.open_items(), {}, [](const Label& l) { return key_of(l); });
      place[id.index()] = sets.close();
    }
    const auto labels = [&](LabelSetId id) { return std::as_const(sets)[place[id.index()]]; };
    label_sets_.sort([&](LabelSetId a, LabelSetId b) { return compare(labels(a), labels(b)) < 0; });
    for (const LabelSetId id : label_sets_.used()) to().label_sets.add(labels(id));
  }

  void sort_links() {
    links_.sort(
        [&](LinkId a, LinkId b) { return from_.links[a.index()] < from_.links[b.index()]; });
    for (const LinkId id : links_.used()) to().links.push_back(from_.links[id.index()]);
  }

  void sort_profiles() {
    std::vector<Profile> heads;
    for (const Profile& p : batch_.profiles) heads.push_back(moved_head(p));
    auto& order = out_.profile_order;
    for (uint32_t i = 0; i < heads.size(); ++i) order.push_back(i);
    std::ranges::sort(order, [&](uint32_t left, uint32_t right) {
      const Profile& a = heads[left];
      const Profile& b = heads[right];
      const auto key = [](const Profile& p) {
        return std::tuple(p.name, p.resource, key_of(p.period_type));
      };
      if (key(a) != key(b)) return key(a) < key(b);
      return compare<SampleType>(a.sample_types, b.sample_types) < 0;
    });
    for (const uint32_t at : order) {
      out_.batch.profiles.push_back(std::move(heads[at]));
      add_samples(batch_.profiles[at], out_.batch.profiles.back());
    }
  }

  Profile moved_head(const Profile& p) const {
    Profile out;
    out.name = strings_[p.name];
    out.resource = label_sets_[p.resource];
    for (const SampleType& t : p.sample_types) out.sample_types.push_back(moved(t));
    out.period_type = moved(p.period_type);
    out.period = p.period;
    out.time_ns = p.time_ns;
    out.duration_ns = p.duration_ns;
    out.default_type = p.default_type;
    for (const StringId comment : p.comments) out.comments.push_back(strings_[comment]);
    std::ranges::sort(out.comments);
    out.doc_url = strings_[p.doc_url];
    out.drop_frames = strings_[p.drop_frames];
    out.keep_frames = strings_[p.keep_frames];
    for (const Loss& loss : p.losses) out.losses.push_back({strings_[loss.reason], loss.count});
    std::ranges::sort(out.losses, {}, &Loss::reason);
    return out;
  }

  void add_samples(const Profile& from, Profile& to) const {
    struct Row {
      StackId stack;
      LabelSetId labels;
      LinkId link;
      uint32_t row = 0;
      int64_t time_ns = 0;
    };
    const Samples& samples = from.samples;
    std::vector<Row> rows(samples.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] = {stacks_[samples.stacks[i]], label_sets_[samples.label_set(i)],
                 links_[samples.link(i)], static_cast<uint32_t>(i), samples.time_ns(i)};
    }
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return std::tuple(a.stack, a.labels, a.link, a.time_ns) <
             std::tuple(b.stack, b.labels, b.link, b.time_ns);
    });
    to.samples.stacks.reserve(rows.size());
    to.samples.values.reserve(samples.values.size());
    for (const Row& row : rows)
      to.add_sample(row.stack, from.values(row.row), row.labels, row.link, row.time_ns);
  }

  const Dictionary& from_;
  const ProfileBatch& batch_;
  const MappingId main_mapping_;
  CanonicalBatch out_;
  Positions<StringId> strings_;
  Positions<FunctionId> functions_;
  Positions<MappingId> mappings_;
  Positions<LocationId> locations_;
  Positions<StackId> stacks_;
  Positions<LabelSetId> label_sets_;
  Positions<LinkId> links_;
};

}  // namespace

CanonicalBatch in_canonical_order(const ProfileBatch& batch, MappingId main_mapping) {
  return Sorter(batch, main_mapping).run();
}

}  // namespace vesta
