#include "profile/label_frames.h"

#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "profile/label_filter.h"

namespace vesta {
namespace {

bool found(const RE2& regex, std::string_view text) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regex);
}

class LabelFrameMaker {
 public:
  LabelFrameMaker(Dictionary& dictionary, const LabelFrames& wanted)
      : dictionary_(dictionary), wanted_(wanted) {}

  StackId stack_of(const WeightedStack& sample) {
    const auto key = std::tuple(sample.stack, sample.labels, sample.resource);
    const auto [known, is_new] = stacks_.try_emplace(key);
    if (!is_new) return known->second;
    std::vector<LocationId> frames;
    add(frames, wanted_.leaf, sample);
    const auto own = dictionary_.stacks[sample.stack];
    frames.insert(frames.end(), own.begin(), own.end());
    add(frames, wanted_.root, sample);
    return known->second = dictionary_.stacks.add(frames);
  }

 private:
  // Stacks are leaf first, so the last of the names comes first.
  void add(std::vector<LocationId>& frames, const std::vector<std::string>& names,
           const WeightedStack& sample) {
    for (size_t i = names.size(); i-- > 0;) {
      std::string text = values(dictionary_.label_sets[sample.labels], names[i]);
      if (text.empty()) text = values(dictionary_.label_sets[sample.resource], names[i]);
      if (text.empty()) text = wanted_.none;
      frames.push_back(location(std::move(text), names[i]));
    }
  }

  std::string values(std::span<const Label> labels, std::string_view name) const {
    std::string texts;
    std::string numbers;
    const auto append = [](std::string& list, std::string_view value) {
      if (!list.empty()) list += ',';
      list += value;
    };
    for (const Label& label : labels) {
      if (dictionary_.string(label.key) != name) continue;
      if (label.kind == LabelKind::kString) {
        append(texts, dictionary_.string(label.text));
      } else {
        const std::string_view unit = dictionary_.string(label.unit);
        append(numbers, wanted_.unit.empty() ? format_value(label.number, unit)
                                             : format_value_in(label.number, unit, wanted_.unit));
      }
    }
    if (!numbers.empty()) append(texts, numbers);
    return texts;
  }

  LocationId location(std::string text, const std::string& name) {
    const auto [known, is_new] = locations_.try_emplace(std::pair(std::move(text), name));
    if (!is_new) return known->second;
    Function function;
    function.name = dictionary_.strings.intern(known->first.first);
    function.file = dictionary_.strings.intern(name);
    dictionary_.functions.push_back(function);
    const Line line{FunctionId(dictionary_.functions.size() - 1), 0, 0};
    return known->second = dictionary_.add_location({}, std::span(&line, 1));
  }

  Dictionary& dictionary_;
  const LabelFrames& wanted_;
  std::map<std::pair<std::string, std::string>, LocationId> locations_;  // by value and name
  std::map<std::tuple<StackId, LabelSetId, LabelSetId>, StackId> stacks_;
};

}  // namespace

MergedProfile with_label_frames(const MergedProfile& profile, const LabelFrames& wanted) {
  MergedProfile out = profile;
  auto dictionary = std::make_shared<Dictionary>(*profile.dictionary);
  LabelFrameMaker frames(*dictionary, wanted);
  for (WeightedStack& sample : out.samples) sample.stack = frames.stack_of(sample);
  out.dictionary = std::move(dictionary);
  return out;
}

void add_label_frames(ProfileBatch& batch, const LabelFrames& wanted) {
  LabelFrameMaker frames(batch.dictionary, wanted);
  for (Profile& profile : batch.profiles) {
    for (size_t row = 0; row < profile.samples.size(); ++row) {
      StackId& stack = profile.samples.stacks[row];
      WeightedStack sample;
      sample.stack = stack;
      sample.labels = profile.samples.label_set(row);
      sample.resource = profile.resource;
      stack = frames.stack_of(sample);
    }
  }
}

Result<LabelNames> LabelNames::compile(std::string_view show, std::string_view hide) {
  LabelNames names;
  if (!show.empty()) {
    VESTA_ASSIGN(names.show_, compile_regex(show, "--tag-show"));
  }
  if (!hide.empty()) {
    VESTA_ASSIGN(names.hide_, compile_regex(hide, "--tag-hide"));
  }
  return names;
}

bool LabelNames::keeps(std::string_view name) const {
  return (!show_ || found(*show_, name)) && !(hide_ && found(*hide_, name));
}

void keep_labels(FrameProfile& profile, const LabelNames& names) {
  auto dictionary = std::make_shared<Dictionary>(*profile.dictionary);
  decltype(dictionary->label_sets) kept;
  for (size_t i = 1; i < dictionary->label_sets.size(); ++i) {
    for (const Label& label : dictionary->label_sets[LabelSetId(i)]) {
      if (names.keeps(dictionary->string(label.key))) kept.push(label);
    }
    kept.close();
  }
  dictionary->label_sets = std::move(kept);
  profile.dictionary = std::move(dictionary);
}

}  // namespace vesta
