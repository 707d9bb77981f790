#include "runtimes/go/go_runtime.h"

namespace vesta {

bool owns_go_code(const ModuleSymbols& symbols) {
  return has(symbols.source(), SymbolSource::kGo);
}

std::string_view why_go_is_unsupported(const ModuleSymbols& symbols) {
  return symbols.go_problem();
}

}  // namespace vesta
