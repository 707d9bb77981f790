# One function per kind of target, so that a folder's CMakeLists.txt reads as a list of what it holds.

# vesta_unity(TARGET): compiles VESTA_UNITY sources of the target at once, which reads their headers once
#   (docs/decisions/039-sources-compiled-together.md). Names in their anonymous namespaces have to differ. A source that
#   cannot be with others has the property SKIP_UNITY_BUILD_INCLUSION.
function(vesta_unity target)
  if(VESTA_UNITY GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${VESTA_UNITY})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC takes a source that is included for a header.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# vesta_library(NAME SOURCES a.cc ... [DEPS lib ...])
#   A static library `vesta_NAME`, one per layer or format. DEPS are public.
function(vesta_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(vesta_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(vesta_${name} PUBLIC ${ARG_DEPS})
  vesta_unity(vesta_${name})
  if(VESTA_FUZZ)
    # Coverage feedback from every layer, not only from the fuzz target itself.
    target_compile_options(vesta_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# vesta_layer(OUT): the folder under src/ or tests/ that the current CMakeLists.txt belongs to, such as `formats`.
function(vesta_layer out)
  file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REGEX REPLACE "^[^/]+/([^/]+).*" "\\1" layer "${path}")
  set(${out} "${layer}" PARENT_SCOPE)
endfunction()

# vesta_add_part(PROGRAM PART...): links each object library into the program, once.
function(vesta_add_part program)
  get_property(parts TARGET ${program} PROPERTY VESTA_PARTS)
  foreach(part ${ARGN})
    if(NOT part IN_LIST parts)
      target_link_libraries(${program} PRIVATE ${part})
      set_property(TARGET ${program} APPEND PROPERTY VESTA_PARTS ${part})
    endif()
  endforeach()
endfunction()

# vesta_test(NAME SOURCES a_test.cc ... [DEPS lib ...] [INSTANCES Name ...])
#   Tests with GoogleTest, run by ctest as one test. Their objects are the target `NAME_test`; the tests of a layer are linked
#   into one program, `LAYER_tests`, which selects them by file (tests/unit/main.cc) and, where object libraries among DEPS
#   define suites, by the name that SOURCES instantiate those with. Does nothing unless VESTA_TESTS is on.
function(vesta_test name)
  if(NOT VESTA_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;INSTANCES" ${ARGN})
  vesta_layer(layer)
  set(program ${layer}_tests)
  if(NOT TARGET ${program})
    add_executable(${program} "${CMAKE_SOURCE_DIR}/tests/unit/main.cc")
    target_link_libraries(${program} PRIVATE GTest::gtest GTest::gmock)
  endif()
  add_library(${name}_test OBJECT ${ARG_SOURCES})
  target_link_libraries(${name}_test PUBLIC ${ARG_DEPS} GTest::gtest GTest::gmock)
  vesta_add_part(${program} ${name}_test)
  foreach(dependency ${ARG_DEPS})
    # CMake takes the objects of what a program names itself, and no others.
    if(TARGET ${dependency})
      get_target_property(type ${dependency} TYPE)
      if(type STREQUAL "OBJECT_LIBRARY")
        vesta_add_part(${program} ${dependency})
      endif()
    endif()
  endforeach()

  set(files "")
  foreach(source ${ARG_SOURCES})
    if(source MATCHES "_test\\.cc$")
      file(RELATIVE_PATH file "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
      list(APPEND files "${file}")
    endif()
  endforeach()
  if(ARG_INSTANCES)
    # Its own file may do no more than instantiate suites.
    list(FILTER files EXCLUDE REGEX "_suite_test\\.cc$")
  endif()
  list(JOIN files "," files)
  list(JOIN ARG_INSTANCES "," instances)
  add_test(NAME ${name} COMMAND ${program} "--sources=${files}" "--instances=${instances}")
  set(timeout 300)
  if(VESTA_SANITIZE STREQUAL "thread")
    set(timeout 1800)
  endif()
  # RocksDB, gRPC and others are not instrumented: ThreadSanitizer does not see how their threads synchronise.
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${timeout}
    ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1;TSAN_OPTIONS=ignore_noninstrumented_modules=1")
  # scripts/test reads this list: test, then the program that has it.
  file(APPEND "${CMAKE_BINARY_DIR}/tests.txt" "${name} ${program}\n")
endfunction()

# vesta_fuzzer(NAME SOURCES a_fuzz.cc [DEPS lib ...])
#   A libFuzzer target `NAME_fuzz`; its seeds are in the folder `fuzz_corpus/` beside its source. Only with VESTA_FUZZ. The targets of a
#   layer are one program, linked once, which goes by the name of each (tests/unit/fuzz_main.cc).
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
  vesta_layer(layer)
  set(program ${layer}_fuzzers)
  if(NOT TARGET ${program})
    add_executable(${program} "${CMAKE_SOURCE_DIR}/tests/unit/fuzz_main.cc")
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${program} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)  # targets are found by name
  endif()
  add_library(${name}_fuzz_objects OBJECT ${ARG_SOURCES})
  target_compile_options(${name}_fuzz_objects PRIVATE -fsanitize=fuzzer)
  target_compile_definitions(${name}_fuzz_objects PRIVATE LLVMFuzzerTestOneInput=${name}_fuzz)
  target_link_libraries(${name}_fuzz_objects PUBLIC ${ARG_DEPS})
  vesta_add_part(${program} ${name}_fuzz_objects)
  add_custom_target(${name}_fuzz ALL
    COMMAND "${CMAKE_COMMAND}" -E create_symlink ${program} "${CMAKE_BINARY_DIR}/${name}_fuzz"
    BYPRODUCTS "${CMAKE_BINARY_DIR}/${name}_fuzz")
  add_dependencies(${name}_fuzz ${program})
  # scripts/fuzz reads this list: target, then the folder of its seeds.
  list(GET ARG_SOURCES 0 source)
  get_filename_component(folder "${source}" ABSOLUTE)
  get_filename_component(folder "${folder}" DIRECTORY)
  file(APPEND "${CMAKE_BINARY_DIR}/fuzzers.txt" "${name}_fuzz ${folder}/fuzz_corpus\n")
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
file(WRITE "${CMAKE_BINARY_DIR}/tests.txt" "")
