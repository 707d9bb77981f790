#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_report.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr size_t kValues = 20;

Result<int> run_labels(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kValues));
  if (server_answers(arguments))
    return print_selector("/api/v1/labels/weights", {}, arguments, options, console);
  VESTA_ASSIGN(const MergedProfile profile, load_profile(arguments, console));
  VESTA_ASSIGN(const LabelNames names,
               LabelNames::compile(arguments.get("tag-show"), arguments.get("tag-hide")));
  std::vector<LabelKey> keys = summarize_labels(profile);
  std::erase_if(keys, [&](const LabelKey& key) { return !names.keeps(key.key); });
  VESTA_TRY(console.print(labels_report(header_of(profile), keys, options)));
  return kOk;
}

}  // namespace

Command labels_command() {
  Command c;
  c.name = "labels";
  c.summary = "List the labels of the samples and the weight of each value";
  c.arguments = "SOURCE…";
  c.examples = {"vesta labels cpu.pb.gz", "vesta labels recording.jfr -t wall -o json"};
  c.min_arguments = 1;
  c.flags = with_flags({{"type", 't', "TYPE", "profile type, as in vesta top"}},
                       {label_name_flags(), report_flags(), input_flags()});
  c.run = run_labels;
  return c;
}

}  // namespace vesta::cli
