#include "reports/test_selection.h"

#include <algorithm>

#include "profile/merge/content_hash.h"
#include "store/series_labels.h"
#include "store/stack_tree_writer.h"

namespace vesta::test {

Selection selection_from(const std::vector<ServiceBatch>& services) {
  Selection out;
  for (const ServiceBatch& service : services) {
    const Dictionary& d = service.batch->dictionary;
    ServiceStacks stacks;
    stacks.service = service.service;
    StackTreeWriter writer(stacks.tree);
    StackNumbers numbers;
    const std::vector<Hash128> hashes = stack_hashes(d);
    StackTreeWriter::LocationFrames frames;
    for (const Profile& profile : service.batch->profiles) {
      out.type = profile_type_of(d, profile, profile.default_type);
      out.period = std::max(out.period, profile.period);
      out.first_ns = out.first_ns == 0 ? profile.time_ns : std::min(out.first_ns, profile.time_ns);
      out.last_ns = std::max(out.last_ns, profile.time_ns);
      out.covered.add_whole(profile.duration_ns);
      ++out.profiles;
      for (const Loss& loss : profile.losses)
        out.losses.push_back({std::string(d.string(loss.reason)), loss.count});
      for (size_t row = 0; row < profile.samples.size(); ++row) {
        const StackId stack = profile.samples.stacks[row];
        const size_t number =
            writer.number(numbers, hashes[stack.index()], d, stack, frames).index();
        stacks.weights.resize(std::max(stacks.weights.size(), number + 1));
        stacks.weights[number] += profile.value(row, profile.default_type);
        out.total += profile.value(row, profile.default_type);
      }
    }
    out.services.push_back(std::move(stacks));
  }
  return out;
}

Selection selection_from(const ProfileBatch& batch, std::string service) {
  return selection_from({{std::move(service), &batch}});
}

}  // namespace vesta::test
