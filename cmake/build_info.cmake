# Usage: cmake -DSOURCE=DIR -DOUTPUT=FILE -DVERSION=V -DBUILD=TEXT -DCOMPILER=TEXT -P cmake/build_info.cmake
#
# Writes FILE, the definition of vesta::cli::build_info(), with the commit that DIR is at; "unknown" outside of git.
# Runs with every build, and leaves the file alone when nothing changed, so that only a new commit compiles it again.
set(commit "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND "${git}" describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY "${SOURCE}"
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit "${found}")
  endif()
endif()
set(text "// Written by cmake/build_info.cmake.
#include \"cli/build_info.h\"

namespace vesta::cli {

BuildInfo build_info() {
  return {\"${VERSION}\", \"${commit}\", \"${BUILD}\", \"${COMPILER}\"};
}

}  // namespace vesta::cli
")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT text STREQUAL old)
  file(WRITE "${OUTPUT}" "${text}")
endif()
