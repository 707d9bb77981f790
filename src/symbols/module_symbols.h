// Names for the code of one ELF file, from whatever there is: DWARF with inlined calls and lines
// (its own, or a separate debug file's), Go's function table, .symtab, mini debug info, .dynsym.
// Shares the files, owns its tables and caches, all bounded. Not thread-safe: one owner thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/table_hash.h"
#include "demangle/demangle.h"
#include "symbols/debug_files.h"
#include "symbols/debuginfod.h"
#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/symbol_table.h"
#include "symbols/go/go_symbols.h"
#include "symbols/source_frame.h"

namespace vesta {

struct SymbolOptions {
  DemangleStyle demangle = DemangleStyle::kShort;
  DemangleLanguages languages;
  bool inlines = true;  // false: only the outermost function of each address, with its line
  // Where separate debug files are looked for: usually the process's root, then "/". Not used when
  // `debug_files` is given.
  std::vector<std::string> debug_roots = {"/"};
  // Shared by modules, so that what they have in common is opened once. May be null.
  std::shared_ptr<DebugFiles> debug_files;
  // Asked when there is no debug file on the host. Null: never.
  std::shared_ptr<Debuginfod> debuginfod;
  uint64_t max_bytes = 64ULL << 20;            // of tables built from DWARF
  uint64_t max_unpacked_bytes = 512ULL << 20;  // of compressed DWARF sections; above: no DWARF
  size_t max_name_bytes = 4UL << 20;           // of demangled names that are kept
};

// Which sources a module has, as a set of bits.
enum class SymbolSource : uint32_t {
  kNone = 0,
  kDwarf = 1,
  kSymtab = 2,
  kDynsym = 4,
  kMiniDebug = 8,
  kGo = 16,
  kSeparateFile = 32,  // DWARF or .symtab come from a separate debug file
  kDebuginfod = 64,    // which was fetched
};
constexpr SymbolSource operator|(SymbolSource a, SymbolSource b) {
  return static_cast<SymbolSource>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr bool has(SymbolSource set, SymbolSource source) {
  return (static_cast<uint32_t>(set) & static_cast<uint32_t>(source)) != 0;
}
// Such as "dwarf+symtab"; "none".
std::string to_string(SymbolSource set);

class ModuleSymbols {
 public:
  // `path` is as the process sees it, for .gnu_debuglink. Never null; a file without names gives a
  // module without sources. May take long: sections are unpacked, and debuginfod is asked.
  static std::shared_ptr<ModuleSymbols> open(std::shared_ptr<const ElfFile> file, std::string path,
                                             const SymbolOptions& options);

  // Appends the frames at an address of the ELF file's own address space, innermost first; false
  // when nothing is known. For a return address, pass the address minus one. Views live until the
  // next call.
  bool lookup(uint64_t elf_address, std::vector<SourceFrame>& frames);

  // What is in use. DWARF of a Go program joins when code that is not Go is first asked for.
  SymbolSource source() const { return source_; }
  // Why the table of a Go program could not be read; empty when it was, and for other programs.
  std::string_view go_problem() const { return go_problem_; }
  const ElfFile& file() const { return *file_; }
  // Of what is kept in memory; mapped files are not counted.
  size_t memory_bytes() const;
  // Gives the memory of the mapped files back until they are read again.
  void release_pages() const;

 private:
  ModuleSymbols(std::shared_ptr<const ElfFile> file, std::string path, const SymbolOptions& options)
      : file_(std::move(file)), path_(std::move(path)), options_(options) {}
  void open_debug_file();
  void open_dwarf();
  bool lookup_dwarf(uint64_t address, std::vector<SourceFrame>& frames);
  bool lookup_symbol(uint64_t address, SourceFrame& frame);
  // Sets `name` from `linkage_name`.
  void set_names(SourceFrame& frame, std::string_view linkage_name);
  std::string_view demangled(std::string_view linkage_name);

  std::shared_ptr<const ElfFile> file_;
  std::string path_;
  const SymbolOptions options_;
  std::shared_ptr<DebugFiles> debug_files_;
  std::shared_ptr<const ElfFile> debug_file_;
  std::string debug_path_;
  bool tried_dwarf_ = false;
  SymbolTable symbols_;
  std::unique_ptr<DwarfSymbols> dwarf_;
  std::shared_ptr<const GoSymbols> go_;
  std::string go_problem_;
  SymbolSource source_ = SymbolSource::kNone;
  // Keys are views into the files' string sections, which stay.
  std::unordered_map<std::string_view, std::string, TableKeyHash> demangled_;
  size_t demangled_bytes_ = 0;
};

}  // namespace vesta
