#include "formats/flamegraph/flame_label.h"

#include "base/utf8.h"

namespace vesta {
namespace {

constexpr size_t kFewestColumns = 3;
constexpr size_t kColumnsForWords = 14;

// Operators have brackets that are no template arguments.
bool has_operator(std::string_view name) {
  const size_t at = name.find("operator");
  return at != std::string_view::npos && at + 8 < name.size() &&
         std::string_view("<>-(").find(name[at + 8]) != std::string_view::npos;
}

std::string without_template_arguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool arrow = name[i] == '>' && i > 0 && name[i - 1] == '-';
    if (name[i] == '<' && (depth > 0 || i > 0)) {
      ++depth;
    } else if (name[i] == '>' && !arrow && depth > 0) {
      --depth;
    } else if (depth == 0) {
      out.push_back(name[i]);
    }
  }
  return depth == 0 ? out : std::string(name);
}

// "f(int) const" -> "f", "g() [clone .cold]" -> "g"; "(anonymous namespace)::h" stays.
std::string_view without_parameters(std::string_view name) {
  std::string_view head = name;
  if (const size_t clone = head.find(" [clone"); clone != std::string_view::npos) {
    head = head.substr(0, clone);
  }
  if (head.ends_with(" const")) head.remove_suffix(6);
  if (!head.ends_with(')')) return name;
  int depth = 0;
  for (size_t i = head.size(); i-- > 0;) {
    if (head[i] == ')') ++depth;
    if (head[i] == '(' && --depth == 0) {
      // "name (file.py:3)" is no call.
      return i == 0 || head[i - 1] == ' ' ? name : head.substr(0, i);
    }
  }
  return name;
}

}  // namespace

std::string shorten_name(std::string_view name) {
  if (name.find("::") == std::string_view::npos || name.starts_with('<') || has_operator(name)) {
    return std::string(name);
  }
  const std::string bare = without_template_arguments(name);
  std::string_view rest = without_parameters(bare);
  const size_t scope = rest.find("::");
  const size_t parenthesis = rest.find('(');
  if (scope != std::string_view::npos && parenthesis > scope) {
    if (const size_t space = rest.substr(0, scope).rfind(' '); space != std::string_view::npos) {
      rest.remove_prefix(space + 1);
    }
  }
  return rest.empty() ? std::string(name) : std::string(rest);
}

std::string fit_label(std::string_view name, std::string_view short_name, size_t columns) {
  if (columns < kFewestColumns) return {};
  if (display_width(name) <= columns) return std::string(name);
  if (display_width(short_name) <= columns) return std::string(short_name);
  const std::string_view path = short_name.substr(0, short_name.find_first_of(" (["));
  size_t last = 0;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const bool scope = path[i] == ':' && i > 0 && path[i - 1] == ':';
    if (!scope && path[i] != '/' && path[i] != '.') continue;
    if (path[i + 1] == ':' || path[i + 1] == '/' || path[i + 1] == '.') continue;
    last = i + 1;
    if (display_width(short_name.substr(last)) <= columns) {
      return std::string(short_name.substr(last));
    }
  }
  return std::string(clip_to_width(short_name.substr(last), columns - 1)) + "…";
}

std::string fit_changed_label(std::string_view name, std::string_view short_name,
                              FrameChange change, size_t columns) {
  if (change == FrameChange::kNone) return fit_label(name, short_name, columns);
  if (columns == 0) return {};
  const bool is_new = change == FrameChange::kNew;
  std::string label =
      columns < kColumnsForWords ? (is_new ? "+" : "-") : (is_new ? "[new] " : "[gone] ");
  label += fit_label(name, short_name, columns - label.size());
  return label;
}

}  // namespace vesta
