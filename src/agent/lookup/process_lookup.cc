#include "agent/lookup/process_lookup.h"

#include <algorithm>
#include <set>

#include "agent/metadata/command_name.h"
#include "agent/process/proc_files.h"
#include "base/suggest.h"

namespace vesta::agent {
namespace {

constexpr size_t kCommBytes = 15;
constexpr size_t kMaxCommandLine = 4096;
constexpr std::string_view kDeleted = " (deleted)";

std::string_view without_folders(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "nginx: worker process" is nginx, "-bash" a login shell; "/usr/sbin/sshd -D" may be one word when
// a program wrote over its command line.
std::string_view first_word(std::string_view command_line) {
  std::string_view word = command_line.substr(0, command_line.find('\0'));
  word = word.substr(0, std::min(word.find(": "), word.find(' ')));
  if (word.ends_with(':')) word.remove_suffix(1);
  if (word.starts_with('-')) word.remove_prefix(1);
  return without_folders(word);
}

void add(NamedProcess& process, std::string_view name) {
  if (!name.empty() && std::ranges::find(process.names, name) == process.names.end())
    process.names.emplace_back(name);
}

}  // namespace

std::vector<NamedProcess> list_named_processes(const std::string& proc_root, uint32_t except) {
  std::vector<NamedProcess> out;
  std::vector<uint32_t> pids = list_processes(proc_root);
  std::ranges::reverse(pids);
  for (const uint32_t pid : pids) {
    if (pid == except || !running_since(proc_root, pid)) continue;
    const auto dir = ProcDir::open(proc_root, pid);
    if (!dir.ok()) continue;
    const auto stat_text = dir->read("stat", 4096);
    const auto stat = stat_text.ok() ? parse_proc_stat(*stat_text) : std::nullopt;
    if (!stat) continue;
    NamedProcess process;
    process.pid = pid;
    add(process, stat->comm);
    if (const auto exe = dir->read_link("exe"); exe.ok()) {
      std::string_view path = *exe;
      if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
      add(process, without_folders(path));
      if (const auto words = dir->read("cmdline", kMaxCommandLine); words.ok()) {
        add(process, first_word(*words));
        // job.py is found as "job.py" and as "job".
        const std::string program =
            program_of_interpreter(without_folders(path), split_command_line(*words)).name;
        add(process, program);
        add(process, std::string_view(program).substr(0, program.rfind('.')));
      }
    }
    if (!process.names.empty()) out.push_back(std::move(process));
  }
  return out;
}

std::vector<uint32_t> processes_named(const std::vector<NamedProcess>& all, std::string_view name) {
  std::vector<uint32_t> exact;
  std::vector<uint32_t> cut;
  for (const NamedProcess& process : all) {
    if (std::ranges::find(process.names, name) != process.names.end()) {
      exact.push_back(process.pid);
    } else if (name.size() > kCommBytes && process.names[0] == name.substr(0, kCommBytes)) {
      cut.push_back(process.pid);
    }
  }
  return exact.empty() ? cut : exact;
}

std::vector<std::string> similar_names(const std::vector<NamedProcess>& all, std::string_view name,
                                       size_t most) {
  std::set<std::string> names;
  for (const NamedProcess& process : all) names.insert(process.names.begin(), process.names.end());
  const std::vector<std::string> sorted(names.begin(), names.end());
  std::vector<std::string> out;
  if (std::string near = nearest(name, sorted); !near.empty()) out.push_back(std::move(near));
  for (const std::string& other : sorted) {
    if (out.size() >= most) break;
    if (!name.empty() && other.find(name) != std::string::npos &&
        std::ranges::find(out, other) == out.end())
      out.push_back(other);
  }
  return out;
}

}  // namespace vesta::agent
