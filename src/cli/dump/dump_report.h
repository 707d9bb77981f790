// What `vesta dump` prints: the stacks of threads as text for people, JSON for programs, folded
// lines for flame graphs. Pure functions.
#pragma once

#include <string>

#include "agent/dump/thread_dump.h"
#include "reports/print/text_style.h"

namespace vesta::cli {

std::string dump_text(const agent::ThreadDump& dump, const TextStyle& style);
std::string dump_json(const agent::ThreadDump& dump);
// "process;thread;outermost;…;innermost 1", equal ones added up.
std::string dump_folded(const agent::ThreadDump& dump);

}  // namespace vesta::cli
