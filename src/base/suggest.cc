#include "base/suggest.h"

#include <algorithm>
#include <vector>

namespace vesta {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> choices) {
  // A person's typing errors are few; a hostile word could be long.
  if (word.empty() || word.size() > 64) return {};
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& choice : choices) {
    const bool is_prefix = word.size() >= 3 && choice.starts_with(word);
    const size_t distance = is_prefix ? 1 : edit_distance(word, choice);
    if (distance < best_distance) {
      best_distance = distance;
      best = &choice;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace vesta
