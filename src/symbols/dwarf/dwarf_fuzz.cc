#include <cstdlib>
#include <vector>

#include "base/file.h"
#include "symbols/dwarf/dwarf_symbols.h"

// Whatever the file says: no crash, and every answer lies within its bounds. A file that is too
// small to hold code of its own still has addresses to ask for: the fuzzer puts some at its end.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file = vesta::ElfFile::parse(
      vesta::InputFile::from_bytes(std::string(reinterpret_cast<const char*>(data), size)));
  if (!file) return 0;
  vesta::DwarfSymbols::Options options;
  options.max_table_bytes = 1 << 20;
  options.max_unpacked_bytes = 1 << 20;
  // The file stands in for the one it shares with others, too.
  options.find_alternate = [](const vesta::ElfFile& self) {
    return std::shared_ptr<const vesta::ElfFile>(std::shared_ptr<void>(), &self);
  };
  auto symbols = vesta::DwarfSymbols::open(*file, std::move(options));
  if (!symbols) return 0;
  std::vector<vesta::SourceFrame> frames;
  size_t touched = 0;
  for (const vesta::ElfSection& section : (*file)->sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0) continue;
    for (uint64_t i = 0; i < 64; ++i) {
      frames.clear();
      const auto answer = (*symbols)->lookup(section.address + i * 7, frames);
      if (frames.size() > 512) std::abort();
      if ((answer == vesta::DwarfSymbols::Answer::kNothing) != frames.empty()) std::abort();
      for (const vesta::SourceFrame& frame : frames) {
        if (answer == vesta::DwarfSymbols::Answer::kFrames && frame.name.empty()) std::abort();
        for (const char c : frame.name) touched += static_cast<uint8_t>(c);
        for (const char c : frame.file) touched += static_cast<uint8_t>(c);
      }
    }
    if (touched > (64U << 20)) break;
  }
  return 0;
}
