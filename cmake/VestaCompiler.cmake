# Flags for every target: C++20, warnings as errors, frame pointers and build ids in all builds, because a profiler
# must itself be profilable.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

# Checkouts share what they have compiled: the cache sees paths relative to the source tree.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=true "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>" -Werror
                    -fno-omit-frame-pointer -fstack-protector-strong)
# Paths relative to the source tree: the binary says nothing about the machine that built it, and ccache hits across
# checkouts.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
add_link_options(-Wl,--build-id=sha1 -Wl,-z,relro,-z,now)
include_directories("${CMAKE_SOURCE_DIR}/src")

if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
  add_compile_definitions(_FORTIFY_SOURCE=2)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in std::string::insert and operator+ where there are none (GCC bug 105651).
  add_compile_options(-Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety)
endif()
if(VESTA_SANITIZE)
  # Half the time of a cold run of all tests was compiling for the sanitizers; -Og takes less than half of -O2.
  # (xxhash insists on inlining what -Og does not, unless told that it need not.)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-Og -g1")
  add_compile_definitions(XXH_NO_INLINE_HINTS=1)
  add_compile_options(-fsanitize=${VESTA_SANITIZE} -fno-sanitize-recover=all -U_FORTIFY_SOURCE)
  add_link_options(-fsanitize=${VESTA_SANITIZE})
  # Programs with all their debug information: lld links one in a third of the time that ld takes.
  find_program(VESTA_LLD ld.lld)
  if(VESTA_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
