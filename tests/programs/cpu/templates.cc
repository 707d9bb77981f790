// Food for a compiler: enough templates to keep clang -O2 busy for seconds. Nobody runs it.
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

template <int N>
size_t work(const std::vector<int>& numbers) {
  std::map<int, std::vector<std::string>> by_multiple;
  for (const int number : numbers) by_multiple[number * N].push_back(std::to_string(number + N));
  std::vector<int> keys;
  for (const auto& [key, words] : by_multiple) keys.push_back(key + static_cast<int>(words.size()));
  std::sort(keys.begin(), keys.end(), [](int a, int b) { return a % N < b % N; });
  std::unordered_map<std::string, int> sums;
  for (const int key : keys) sums[std::to_string(key)] += key;
  const std::regex pattern("a+b" + std::to_string(N));
  size_t matches = std::regex_match("ab", pattern) ? sums.size() : 0;
  if constexpr (N > 1) matches += work<N - 1>(keys);
  return matches;
}

int main() {
  return work<60>({1, 2, 3}) == 0;
}
