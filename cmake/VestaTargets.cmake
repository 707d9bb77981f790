# One function per kind of target, so that a folder's CMakeLists.txt reads as a list of what it holds.

# vesta_library(NAME SOURCES a.cc ... [DEPS lib ...])
#   A static library `vesta_NAME`, one per layer or format. DEPS are public.
function(vesta_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(vesta_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(vesta_${name} PUBLIC ${ARG_DEPS})
  if(VESTA_FUZZ)
    # Coverage feedback from every layer, not only from the fuzz target itself.
    target_compile_options(vesta_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# vesta_test(NAME SOURCES a_test.cc ... [DEPS lib ...])
#   A GoogleTest executable `NAME_test`, run by ctest as one test. Does nothing unless VESTA_TESTS is on.
function(vesta_test name)
  if(NOT VESTA_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

# vesta_fuzzer(NAME SOURCES a_fuzz.cc [DEPS lib ...])
#   A libFuzzer executable `NAME_fuzz`; its seeds are in the folder `fuzz_corpus/` beside it. Only with VESTA_FUZZ.
#   With VESTA_TESTS, a test that runs the one from the fuzz build for some seconds; scripts/test builds that first.
function(vesta_fuzzer name)
  if(VESTA_TESTS)
    add_test(NAME fuzz/${name} COMMAND "${CMAKE_SOURCE_DIR}/scripts/fuzz" --smoke ${name})
    set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz-smoke TIMEOUT 180)
  endif()
  if(NOT VESTA_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_fuzz ${ARG_SOURCES})
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name}_fuzz PRIVATE ${ARG_DEPS})
  # scripts/fuzz reads this list: target, then the folder of its seeds.
  file(APPEND "${CMAKE_BINARY_DIR}/fuzzers.txt" "${name}_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_corpus\n")
endfunction()

# vesta_bench(NAME SOURCES a_bench.cc ... [DEPS lib ...])
#   A Google Benchmark executable `NAME_bench`. Only with VESTA_BENCH.
function(vesta_bench name)
  if(NOT VESTA_BENCH)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_bench ${ARG_SOURCES})
  target_link_libraries(${name}_bench PRIVATE ${ARG_DEPS} benchmark::benchmark)
endfunction()

file(WRITE "${CMAKE_BINARY_DIR}/fuzzers.txt" "")
