#include "reports/tree_names.h"

#include "profile/frame_name.h"
#include "profile/source_path.h"

namespace vesta {

TreeNames::TreeNames(FrameNames& names, const StackTree& tree)
    : names_(names),
      tree_(tree),
      by_frame_(tree.frame_count()),
      by_string_(names.granularity() == Granularity::kFunction ? tree.string_count() : 0) {
  names.keep(tree);
}

uint32_t TreeNames::find(TreeFrame frame) {
  if (by_string_.empty()) return add(frame);
  uint32_t& known = by_string_[tree_.stored_frame(frame).shown.index()];
  if (known == 0) known = add(frame);
  return known;
}

uint32_t TreeNames::add(TreeFrame id) {
  const StoredFrame& frame = tree_.stored_frame(id);
  const Granularity by = names_.granularity();
  FrameName name;
  std::string scratch;
  const auto set_file = [&](FrameName& to) {
    to.file = clean_source_path(tree_.string(frame.file), scratch);
  };
  if (by != Granularity::kFunction) set_file(name);
  name.binary = tree_.string(frame.binary);
  // A file stands for itself; a frame without one is named after what is known of it.
  if (by != Granularity::kFile || name.file.empty()) name.name = tree_.string(frame.shown);
  if (by == Granularity::kAddress || by == Granularity::kLine) name.line = frame.line;
  if (by == Granularity::kAddress) {
    name.column = frame.column;
    name.address = frame.address;
  }
  name.start_line = frame.start_line;
  // The rest is that of the first one seen.
  return names_.number(name, [&](FrameName& added) {
    added.kind = frame.kind;
    if (by == Granularity::kFunction) set_file(added);
    if (!scratch.empty() && added.file.data() == scratch.data())
      added.file = names_.keep_text(scratch);
  });
}

}  // namespace vesta
