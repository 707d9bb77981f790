#include <algorithm>
#include <map>
#include <set>

#include "profile/carried_rounding.h"
#include "profile/dictionary_builder.h"
#include "store/rocksdb/format/accumulator.h"
#include "store/rocksdb/format/dictionary_chunk.h"
#include "store/rocksdb/query/query_scope.h"
#include "store/rocksdb/query/reader.h"
#include "store/series_labels.h"
#include "store/stack_dictionary.h"

namespace vesta::rocks {
namespace {

class SamplesQuery {
 public:
  SamplesQuery(Store& store, const SamplesRequest& request)
      : store_(store),
        request_(request),
        select_(request.select),
        cost_(select_.budget),
        ids_(select_.profile_ids) {}

  Result<ProfileBatch> run(std::string_view tenant) {
    ScopeOptions options;
    options.rollups = false;
    options.looks_back = select_.rates.has_value();
    VESTA_ASSIGN(
        const QueryScope scope,
        QueryScope::open(store_, tenant, select_.type, select_.selector, select_.range, options));
    if (scope.services.empty()) return std::move(batch_);
    std::vector<std::pair<const ScopeService*, const ScopeSeries*>> order;
    for (const ScopeService& service : scope.services)
      for (const ScopeSeries& series : service.series) order.emplace_back(&service, &series);
    std::ranges::sort(order, {},
                      [](const auto& entry) -> const Labels& { return entry.second->labels; });
    Cursor cursor(*scope.view, Family::kRaw);
    TotalTest totals(select_, *scope.view);
    std::map<const ScopeService*, StackDictionary> stacks;
    for (const auto& [service, series] : order) {
      if (!ids_.has_some_of(series->number)) continue;
      StackDictionary& of_service =
          stacks.try_emplace(service, service->dictionary.tree, builder_).first->second;
      VESTA_TRY(add_series(cursor, totals, scope.tenant, *service, *series, of_service));
    }
    VESTA_TRY(cost_.add(0));
    return std::move(batch_);
  }

 private:
  using Sums = std::map<RowKey, int64_t>;

  Status add_series(Cursor& cursor, TotalTest& totals, TenantId tenant, const ScopeService& service,
                    const ScopeSeries& series, StackDictionary& stacks) {
    SampleTest test(select_.samples, service.dictionary);
    if (!test.begin(series.labels)) return {};
    HeaderSum header;
    Sums sums;
    const auto add = [&](const ProfileKey& key, std::string_view value) -> Status {
      if (!ids_.contains(key)) return {};
      VESTA_ASSIGN(const bool is_meant, totals.passes(*store_.database, key));
      if (!is_meant) return {};
      if (!record_.parse(value) ||
          !record_.read_rows(service.dictionary.tree.stack_count(), key.time_ns, rows_)) {
        return damaged_record(*store_.database, key);
      }
      header.add(record_.header(), key.time_ns, totals.cut());
      for (const Row& row : rows_) {
        if (!test.passes(row.key)) continue;
        const auto [at, is_new] = sums.try_emplace(kept(row.key), 0);
        if (is_new) VESTA_TRY(cost_.add(sizeof(RowKey) + 2 * sizeof(int64_t)));
        at->second = saturating_add(at->second, totals.cut()(row.value));
      }
      return {};
    };
    for (const Piece& piece : series.pieces)
      VESTA_TRY(for_each_profile(cursor, tenant, piece, cost_, add));
    if (header.profiles == 0) return {};
    Profile profile = profile_of(series, header);
    add_rows(profile, service.dictionary, sums, header.profiles, stacks);
    batch_.profiles.push_back(std::move(profile));
    return {};
  }

  RowKey kept(RowKey key) const {
    if (!request_.keep_labels) key.labels = 0;
    if (!request_.keep_links) key.link = {};
    if (!request_.keep_times) key.time_ns = 0;
    return key;
  }

  Profile profile_of(const ScopeSeries& series, const HeaderSum& header) {
    const ProfileType& type = select_.type;
    Profile profile;
    profile.name = builder_.string(type.name);
    std::vector<Label> resource;
    for (const auto& [name, value] : series.labels)
      if (!is_system_label(name)) resource.push_back(builder_.text_label(name, value));
    profile.resource = builder_.label_set(resource);
    profile.sample_types.push_back(
        {builder_.string(type.sample_type), builder_.string(type.sample_unit), type.temporality()});
    profile.period_type = {builder_.string(type.period_type), builder_.string(type.period_unit),
                           temporality_of(type.period_type)};
    profile.period = header.period;
    profile.time_ns = header.first_ns;
    profile.duration_ns = header.covered.duration_ns();
    for (const auto& [reason, count] : header.losses)
      profile.add_loss(builder_.string(reason), count);
    return profile;
  }

  void add_rows(Profile& profile, const DictionarySnapshot& dictionary, const Sums& sums,
                uint64_t profiles, StackDictionary& stacks) {
    // Rounding depends on the order: that of the labels themselves, which all engines have.
    std::vector<std::pair<RowKey, int64_t>> rows(sums.begin(), sums.end());
    std::map<LabelSetNumber, std::vector<Label>> sets;
    std::map<LabelSetNumber, uint32_t> ranks = rank(dictionary, sums);
    std::ranges::sort(rows, [&](const auto& a, const auto& b) {
      RowKey left = a.first;
      RowKey right = b.first;
      left.labels = ranks.at(left.labels);
      right.labels = ranks.at(right.labels);
      return left < right;
    });
    const bool instant = select_.type.temporality() == Temporality::kInstant;
    CarriedDivision divide(static_cast<int64_t>(profiles));
    for (const auto& [key, sum] : rows) {
      const int64_t value = instant ? divide(sum) : sum;
      if (value == 0) continue;
      auto [labels, is_new] = sets.try_emplace(key.labels);
      if (is_new) labels->second = labels_of(dictionary, key.labels);
      profile.add_sample(stacks.stack(key.stack), std::span<const int64_t>(&value, 1),
                         builder_.label_set(labels->second), builder_.link(key.link), key.time_ns);
    }
  }

  static std::map<LabelSetNumber, uint32_t> rank(const DictionarySnapshot& dictionary,
                                                 const Sums& sums) {
    using Text =
        std::tuple<std::string_view, LabelKind, std::string_view, std::string_view, int64_t>;
    std::map<std::vector<Text>, LabelSetNumber> by_text;
    std::map<LabelSetNumber, uint32_t> ranks;
    for (const auto& [key, value] : sums) {
      if (!ranks.try_emplace(key.labels, 0).second) continue;
      std::vector<Text> texts;
      if (key.labels < dictionary.label_sets.size()) {
        const StackTree& tree = dictionary.tree;
        for (const StoredLabel& l : dictionary.label_sets[key.labels]) {
          texts.emplace_back(tree.string(l.key), l.kind, tree.string(l.text), tree.string(l.unit),
                             l.number);
        }
      }
      by_text.emplace(std::move(texts), key.labels);
    }
    uint32_t next = 0;
    for (const auto& [text, set] : by_text) ranks[set] = next++;
    return ranks;
  }

  std::vector<Label> labels_of(const DictionarySnapshot& dictionary, LabelSetNumber set) {
    std::vector<Label> out;
    if (set >= dictionary.label_sets.size()) return out;
    const StackTree& tree = dictionary.tree;
    for (const StoredLabel& label : dictionary.label_sets[set]) {
      out.push_back(label.kind == LabelKind::kString
                        ? builder_.text_label(tree.string(label.key), tree.string(label.text))
                        : builder_.number_label(tree.string(label.key), label.number,
                                                tree.string(label.unit)));
    }
    return out;
  }

  Store& store_;
  const SamplesRequest& request_;
  const SelectRequest& select_;
  QueryCost cost_;
  const ProfileIds ids_;
  ProfileBatch batch_;
  DictionaryBuilder builder_{batch_.dictionary};
  RecordView record_;
  std::vector<Row> rows_;
};

}  // namespace

Result<ProfileBatch> samples(Store& store, std::string_view tenant, const SamplesRequest& request) {
  return SamplesQuery(store, request).run(tenant);
}

}  // namespace vesta::rocks
