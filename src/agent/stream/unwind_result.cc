#include "agent/stream/unwind_result.h"

namespace vesta::agent {

std::string_view unwind_result_name(vesta_unwind_result result) {
  switch (result) {
    case VESTA_UNWIND_COMPLETE:
      return "complete";
    case VESTA_UNWIND_TRUNCATED:
      return "more than 512 frames";
    case VESTA_UNWIND_NO_PROCESS:
      return "mappings of the process unknown";
    case VESTA_UNWIND_NO_MAPPING:
      return "address outside known code";
    case VESTA_UNWIND_NO_TABLE:
      return "unwind table not loaded";
    case VESTA_UNWIND_NO_RULE:
      return "no unwind rule for the code";
    case VESTA_UNWIND_UNSUPPORTED:
      return "unwind rule of an unsupported kind";
    case VESTA_UNWIND_BAD_MEMORY:
      return "stack memory not readable";
    case VESTA_UNWIND_BAD_FRAME:
      return "invalid stack";
    case VESTA_UNWIND_NO_USER:
      return "kernel thread";
    case VESTA_UNWIND_STACK_CUT:
      return "stack deeper than the copy";
    case VESTA_UNWIND_RESULTS:
      break;
  }
  return "unknown";
}

}  // namespace vesta::agent
