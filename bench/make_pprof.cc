// Writes a synthetic pprof profile to a file, for benchmarks of the commands that read one.
#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string_view>

#include "synthetic_pprof.h"

namespace {

bool parse(std::string_view text, uint32_t& out) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  vesta::SyntheticShape shape;
  uint32_t* const numbers[] = {&shape.samples, &shape.locations, &shape.depth, &shape.seed};
  bool ok = argc >= 2 && argc <= 6;
  for (int i = 2; ok && i < argc; ++i) ok = parse(argv[i], *numbers[i - 2]);
  if (!ok || shape.locations == 0) {
    fmt::print(stderr,
               "usage: {} FILE [SAMPLES [LOCATIONS [DEPTH [SEED]]]]\n"
               "Writes an uncompressed pprof profile; without numbers, {} samples over {} "
               "locations, {} deep on average.\n",
               argv[0], vesta::SyntheticShape().samples, vesta::SyntheticShape().locations,
               vesta::SyntheticShape().depth);
    return 2;
  }
  const std::string bytes = vesta::make_synthetic_pprof(shape);
  std::ofstream file(argv[1], std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    fmt::print(stderr, "cannot write {}\n", argv[1]);
    return 1;
  }
  return 0;
}
