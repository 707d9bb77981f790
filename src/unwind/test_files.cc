#include "unwind/test_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "testing/temporary_folder.h"

namespace vesta::testing {
std::shared_ptr<const ElfFile> assemble(std::string_view source) {
  const TemporaryFolder folder;
  const std::string path = folder.path("code");
  EXPECT_TRUE(write_file(path + ".s", source).ok());
  const std::string command = "gcc -shared -nostdlib -x assembler '" + path + ".s' -o '" + path +
                              ".so' -Wl,-z,noexecstack 2>&1";
  // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c): a fixed command of a test.
  const int status = std::system(command.c_str());
  auto bytes = InputFile::open(path + ".so", 1 << 24);
  EXPECT_TRUE(status == 0 && bytes.ok()) << source;
  std::shared_ptr<const ElfFile> file;
  if (status == 0 && bytes.ok()) {
    // A copy: the file goes with the folder.
    auto parsed = ElfFile::parse(InputFile::from_bytes(std::string(bytes->bytes())));
    EXPECT_TRUE(parsed.ok());
    if (parsed) file = *parsed;
  }
  return file;
}

uint64_t symbol_address(const ElfFile& file, std::string_view name) {
  const ElfSection* symbols = file.section(".symtab");
  const ElfSection* names = file.section(".strtab");
  if (symbols == nullptr || names == nullptr) return 0;
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols->bytes.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols->bytes.data() + at, sizeof(symbol));
    if (names->bytes.substr(symbol.st_name).starts_with(std::string(name) + '\0')) {
      return symbol.st_value;
    }
  }
  return 0;
}

}  // namespace vesta::testing
