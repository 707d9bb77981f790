#include "symbols/module_symbols.h"

#include <algorithm>
#include <array>

namespace vesta {
namespace {

bool has_dwarf(const ElfFile& file) {
  return file.section(".debug_info") != nullptr || file.section(".zdebug_info") != nullptr;
}

// The last part of a qualified name, without template arguments: what a linkage name contains.
std::string_view plain_part(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

// mov $15, %rax; syscall: where signal handlers return to. C libraries do not export it, but what
// it is can be seen, and this is what all of them call it.
constexpr std::string_view kSignalReturnCode("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
constexpr std::string_view kSignalReturn = "__restore_rt";
constexpr uint64_t kSystemCallAt = 7;

bool is_signal_return(const ElfFile& file, uint64_t address) {
  return file.bytes_at(address).starts_with(kSignalReturnCode) ||
         (address >= kSystemCallAt &&
          file.bytes_at(address - kSystemCallAt).starts_with(kSignalReturnCode));
}

}  // namespace

std::string to_string(SymbolSource set) {
  static constexpr std::array<std::pair<SymbolSource, std::string_view>, 7> kNames = {{
      {SymbolSource::kDwarf, "dwarf"},
      {SymbolSource::kGo, "go"},
      {SymbolSource::kSymtab, "symtab"},
      {SymbolSource::kMiniDebug, "minidebug"},
      {SymbolSource::kDynsym, "dynsym"},
      {SymbolSource::kSeparateFile, "separate-file"},
      {SymbolSource::kDebuginfod, "debuginfod"},
  }};
  std::string out;
  for (const auto& [source, name] : kNames) {
    if (!has(set, source)) continue;
    if (!out.empty()) out += '+';
    out += name;
  }
  return out.empty() ? "none" : out;
}

std::shared_ptr<ModuleSymbols> ModuleSymbols::open(std::shared_ptr<const ElfFile> file,
                                                   std::string path, const SymbolOptions& options) {
  std::shared_ptr<ModuleSymbols> module(
      new ModuleSymbols(std::move(file), std::move(path), options));
  module->debug_files_ = options.debug_files;
  if (module->debug_files_ == nullptr) {
    DebugFiles::Options where;
    where.roots = options.debug_roots;
    module->debug_files_ = std::make_shared<DebugFiles>(std::move(where));
  }
  if (auto go = GoSymbols::open(module->file_); go) {
    module->go_ = std::move(*go);
    module->source_ = module->source_ | SymbolSource::kGo;
  } else if (go.error().code != ErrorCode::kNotFound) {
    module->go_problem_ = go.error().message;
  }
  module->open_debug_file();
  // Go's own table has the same inlined calls and lines, without unpacking; DWARF then serves only
  // the C code that is linked in.
  if (module->go_ == nullptr || !module->go_->has_inlining()) module->open_dwarf();
  module->symbols_ = SymbolTable::build(module->file_, module->debug_file_);
  if (module->symbols_.has_symtab()) module->source_ = module->source_ | SymbolSource::kSymtab;
  if (module->symbols_.has_dynsym()) module->source_ = module->source_ | SymbolSource::kDynsym;
  if (module->symbols_.has_mini_debug()) {
    module->source_ = module->source_ | SymbolSource::kMiniDebug;
  }
  return module;
}

void ModuleSymbols::open_debug_file() {
  if (has_dwarf(*file_)) return;
  DebugFile found = debug_files_->find(*file_, path_);
  debug_file_ = std::move(found.file);
  debug_path_ = std::move(found.path);
  // Go carries its names along: no reason to fetch.
  if (debug_file_ == nullptr && go_ == nullptr && options_.debuginfod != nullptr) {
    if (auto fetched = options_.debuginfod->find(file_->build_id()); fetched) {
      debug_file_ = std::move(*fetched);
      source_ = source_ | SymbolSource::kDebuginfod;
    }
  }
  if (debug_file_ != nullptr) source_ = source_ | SymbolSource::kSeparateFile;
}

void ModuleSymbols::open_dwarf() {
  tried_dwarf_ = true;
  const bool own = has_dwarf(*file_);
  const std::shared_ptr<const ElfFile>& file = own ? file_ : debug_file_;
  if (file == nullptr) return;
  DwarfSymbols::Options options;
  options.max_table_bytes = options_.max_bytes;
  options.max_unpacked_bytes = options_.max_unpacked_bytes;
  options.find_alternate =
      [files = debug_files_, fetch = options_.debuginfod,
       path = own ? path_ : debug_path_](const ElfFile& debug) -> std::shared_ptr<const ElfFile> {
    if (DebugFile found = files->find_alternate(debug, path); found.file != nullptr) {
      return found.file;
    }
    if (fetch == nullptr) return nullptr;
    return fetch->find(alternate_link(debug).build_id).value_or(nullptr);
  };
  auto opened = DwarfSymbols::open(file, std::move(options));
  if (!opened) return;
  dwarf_ = std::move(*opened);
  source_ = source_ | SymbolSource::kDwarf;
}

bool ModuleSymbols::lookup(uint64_t elf_address, std::vector<SourceFrame>& frames) {
  // Only here: names handed out by the last call may go now, those of this one may not.
  if (demangled_bytes_ > options_.max_name_bytes) {
    demangled_.clear();
    demangled_bytes_ = 0;
  }
  const size_t before = frames.size();
  if (go_ != nullptr && !go_->has_inlining() && dwarf_ != nullptr &&
      lookup_dwarf(elf_address, frames)) {
    return true;
  }
  if (go_ != nullptr && go_->lookup(elf_address, frames)) {
    if (!options_.inlines && frames.size() > before + 1) {
      frames[before] = frames.back();
      frames.resize(before + 1);
    }
    return true;
  }
  if (!tried_dwarf_) open_dwarf();
  if (dwarf_ != nullptr && lookup_dwarf(elf_address, frames)) return true;
  SourceFrame frame;
  if (!lookup_symbol(elf_address, frame)) {
    if (!is_signal_return(*file_, elf_address)) return false;
    frame.name = kSignalReturn;
  }
  frames.push_back(frame);
  return true;
}

bool ModuleSymbols::lookup_dwarf(uint64_t address, std::vector<SourceFrame>& frames) {
  const size_t before = frames.size();
  const DwarfSymbols::Answer answer = dwarf_->lookup(address, frames);
  if (answer == DwarfSymbols::Answer::kNothing) return false;
  if (answer == DwarfSymbols::Answer::kLine) {
    if (lookup_symbol(address, frames.back())) return true;
    frames.resize(before);
    return false;
  }
  if (!options_.inlines && frames.size() > before + 1) {
    frames[before] = frames.back();
    frames.resize(before + 1);
  }
  for (size_t i = before; i < frames.size(); ++i) {
    SourceFrame& frame = frames[i];
    if (!frame.linkage_name.empty()) set_names(frame, frame.linkage_name);
  }
  // Compilers give no linkage name to functions of one file; the symbol table has it.
  SourceFrame& outermost = frames.back();
  ElfSymbol symbol;
  if (outermost.linkage_name.empty() && symbols_.lookup(address, symbol) &&
      symbol.name != outermost.name) {
    if (outermost.name == UnitTable::kUnnamed) {
      set_names(outermost, symbol.name);
    } else if (symbol.name.starts_with("_Z") || symbol.name.starts_with("_R")) {
      if (symbol.name.find(plain_part(outermost.name)) != std::string_view::npos) {
        set_names(outermost, symbol.name);
      }
    } else if (symbol.name.starts_with(outermost.name)) {
      outermost.linkage_name = symbol.name;  // a clone, such as name.constprop.0
    }
  }
  return true;
}

bool ModuleSymbols::lookup_symbol(uint64_t address, SourceFrame& frame) {
  ElfSymbol symbol;
  if (!symbols_.lookup(address, symbol)) return false;
  set_names(frame, symbol.name);
  return true;
}

void ModuleSymbols::set_names(SourceFrame& frame, std::string_view linkage_name) {
  frame.name = demangled(linkage_name);
  frame.linkage_name = frame.name == linkage_name ? std::string_view() : linkage_name;
}

std::string_view ModuleSymbols::demangled(std::string_view linkage_name) {
  if (options_.demangle == DemangleStyle::kOff) return linkage_name;
  const auto found = demangled_.find(linkage_name);
  if (found != demangled_.end()) return found->second;
  std::string name = demangle(linkage_name, options_.demangle, options_.languages);
  if (name.empty()) name = linkage_name;
  // About what the table needs for an entry.
  constexpr size_t kEntry = 80;
  demangled_bytes_ += name.capacity() + kEntry;
  return demangled_.emplace(linkage_name, std::move(name)).first->second;
}

void ModuleSymbols::release_pages() const {
  file_->release_pages();
  if (debug_file_ != nullptr) debug_file_->release_pages();
}

size_t ModuleSymbols::memory_bytes() const {
  return sizeof(*this) + symbols_.memory_bytes() + demangled_bytes_ +
         (dwarf_ != nullptr ? dwarf_->memory_bytes() : 0);
}

}  // namespace vesta
