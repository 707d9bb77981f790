# The victim of unwinder tests, at ${CMAKE_BINARY_DIR}/unwind_victim: without the flags of the rest of the build, which keep frame
# pointers and may add sanitizers. Included where it is needed, before tests/ itself.
add_custom_command(
  OUTPUT "${CMAKE_BINARY_DIR}/unwind_victim"
  COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -O2 -g1 -fomit-frame-pointer -Wall -Wextra -Wno-unused-result
          "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=" -pthread -Wl,--build-id=sha1
          "${CMAKE_CURRENT_LIST_DIR}/victim.cc" -o "${CMAKE_BINARY_DIR}/unwind_victim"
  DEPENDS "${CMAKE_CURRENT_LIST_DIR}/victim.cc"
  COMMENT "Building unwind_victim"
  VERBATIM)
add_custom_target(unwind_victim DEPENDS "${CMAKE_BINARY_DIR}/unwind_victim")
