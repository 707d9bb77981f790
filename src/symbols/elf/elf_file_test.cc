#include "symbols/elf/elf_file.h"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <zstd.h>

#include "symbols/testing/elf_builder.h"

namespace vesta {
namespace {

using testing::Bytes;
using testing::ElfBuilder;

Result<std::shared_ptr<const ElfFile>> parse(std::string bytes) {
  return ElfFile::parse(InputFile::from_bytes(std::move(bytes)));
}

std::string zlib(std::string_view text) {
  std::string out(text.size() + 1000, '\0');
  libdeflate_compressor* packer = libdeflate_alloc_compressor(6);
  out.resize(libdeflate_zlib_compress(packer, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(packer);
  return out;
}

std::string chdr(uint32_t type, uint64_t size) {
  return Bytes().u32(type).u32(0).u64(size).u64(1).str();
}

TEST(ElfFile, RefusesWhatIsNotElf) {
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("\177ELF"));
  EXPECT_FALSE(parse(std::string(64, 'x')));
  std::string narrow = ElfBuilder().build();
  narrow[EI_CLASS] = ELFCLASS32;
  const auto result = parse(narrow);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
}

TEST(ElfFile, ReadsItself) {
  const auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->machine(), EM_X86_64);
  EXPECT_EQ((*file)->build_id().bytes.size(), 20U);
  const ElfSection* text = (*file)->section(".text");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ((*file)->bytes_at(text->address).substr(0, 16), text->bytes.substr(0, 16));
  EXPECT_EQ((*file)->address_of_offset(text->offset), text->address);
}

TEST(ElfFile, EveryTruncationIsSafe) {
  ElfBuilder elf;
  const uint32_t code = elf.add_code();
  testing::add_symbols(elf, code, {{"f", 0x1000, 16}});
  elf.add({".note.gnu.build-id", Bytes().u32(4).u32(8).u32(3).text("GNU").u64(7).str(), SHT_NOTE});
  const std::string whole = elf.build();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto file = parse(whole.substr(0, size));
    if (!file) continue;
    for (const ElfSection& section : (*file)->sections()) {
      std::string storage;
      (void)(*file)->contents(section, storage);
    }
  }
  const auto file = parse(whole);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->build_id().hex(), "0700000000000000");
}

TEST(ElfFile, SectionOutsideTheFileHasNoBytes) {
  ElfBuilder elf;
  elf.add({".far", "abc", SHT_PROGBITS, 0, 0, 0, 0, 1ULL << 40});
  elf.add({".wraps", "abc", SHT_PROGBITS, 0, 0, 0, 0, ~0ULL - 1});
  const auto file = elf.open();
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(file->section(".far")->bytes.empty());
  EXPECT_TRUE(file->section(".wraps")->bytes.empty());
}

TEST(ElfFile, OverlappingSectionsAreEachReadable) {
  ElfBuilder elf;
  elf.add({".a", "0123456789"});
  std::string bytes = elf.build();
  // The second header (.a) and the third (.shstrtab) now share an offset.
  const auto header = [&](size_t i) {
    Elf64_Ehdr main;
    std::memcpy(&main, bytes.data(), sizeof(main));
    return bytes.data() + main.e_shoff + i * sizeof(Elf64_Shdr);
  };
  std::memcpy(header(1) + offsetof(Elf64_Shdr, sh_offset),
              header(2) + offsetof(Elf64_Shdr, sh_offset), 8);
  const auto file = parse(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->section(".a")->bytes.size(), 10U);
}

TEST(ElfFile, TooManySectionsAreRefused) {
  std::string bytes = ElfBuilder().build();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_shnum = 0;  // the count is in the first section header
  std::memcpy(bytes.data(), &header, sizeof(header));
  const uint64_t count = 1ULL << 50;
  std::memcpy(bytes.data() + header.e_shoff + offsetof(Elf64_Shdr, sh_size), &count, 8);
  const auto file = parse(bytes);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kLimit);
}

TEST(ElfFile, UnpacksZlibZstdAndTheOldForm) {
  const std::string text(10'000, 'v');
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 3));
  ElfBuilder elf;
  elf.add({".zlib", chdr(1, text.size()) + zlib(text), SHT_PROGBITS, SHF_COMPRESSED});
  elf.add({".zstd", chdr(2, text.size()) + zstd, SHT_PROGBITS, SHF_COMPRESSED});
  elf.add({".zdebug_x", std::string("ZLIB\0\0\0\0\0\0\x27\x10", 12) + zlib(text)});
  elf.add({".plain", text});
  const auto file = elf.open();
  ASSERT_NE(file, nullptr);
  for (const char* name : {".zlib", ".zstd", ".zdebug_x", ".plain"}) {
    std::string storage;
    const auto unpacked = file->contents(*file->section(name), storage);
    ASSERT_TRUE(unpacked) << name << ": " << unpacked.error().message;
    EXPECT_EQ(*unpacked, text) << name;
    const auto limited = file->contents(*file->section(name), storage, 9999);
    EXPECT_EQ(limited.ok(), std::string_view(name) == ".plain");
  }
}

TEST(ElfFile, CompressedSizesThatCannotBeAreRefusedBeforeAllocating) {
  ElfBuilder elf;
  elf.add({".bomb", chdr(1, 4ULL << 30) + "x", SHT_PROGBITS, SHF_COMPRESSED});
  elf.add({".short", "ab", SHT_PROGBITS, SHF_COMPRESSED});
  elf.add({".strange", chdr(99, 10) + "0123456789", SHT_PROGBITS, SHF_COMPRESSED});
  elf.add({".damaged", chdr(1, 10) + "0123456789", SHT_PROGBITS, SHF_COMPRESSED});
  const auto file = elf.open();
  std::string storage;
  for (const char* name : {".bomb", ".short", ".strange", ".damaged"}) {
    EXPECT_FALSE(file->contents(*file->section(name), storage)) << name;
  }
  EXPECT_LT(storage.capacity(), 1U << 20);
}

TEST(ElfFile, DebugLinkNeedsItsChecksum) {
  ElfBuilder good;
  good.add({".gnu_debuglink", Bytes().text("x.debug").u32(0x12345678).str()});
  EXPECT_EQ(good.open()->debug_link().file, "x.debug");
  EXPECT_EQ(good.open()->debug_link().crc, 0x12345678U);
  ElfBuilder cut;
  cut.add({".gnu_debuglink", Bytes().text("x.debug").u16(1).str()});
  EXPECT_TRUE(cut.open()->debug_link().file.empty());
}

}  // namespace
}  // namespace vesta
