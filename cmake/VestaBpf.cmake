# Kernel programs: clang compiles bpf/NAME.bpf.c, bpftool turns the object into a header that the binary embeds.

find_program(VESTA_BPF_CLANG NAMES clang clang-14 REQUIRED)
find_program(VESTA_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)

# All of them: what reads the sources without building them (clang-tidy) needs the headers.
add_custom_target(bpf_skeletons)

# bpf_object(NAME path/to/NAME.bpf.c)
#   An interface library `bpf_NAME`: whoever links it can include "NAME.skel.h", a libbpf skeleton (open, load, attach,
#   destroy) with the object inside. Rebuilt when the source or any header under bpf/ changes.
function(bpf_object name source)
  get_filename_component(source "${source}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/bpf_${name}")
  set(object "${folder}/${name}.bpf.o")
  set(skeleton "${folder}/${name}.skel.h")
  file(MAKE_DIRECTORY "${folder}")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/bpf/*.h")
  add_custom_command(
    OUTPUT "${skeleton}"
    # Debian keeps asm/ in a folder named after the architecture, which clang does not look into for BPF.
    # -g for BTF, which CO-RE and maps need; DWARF itself is stripped by libbpf.
    COMMAND "${VESTA_BPF_CLANG}" -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror -D__TARGET_ARCH_x86
            "-I${CMAKE_SOURCE_DIR}/bpf" -idirafter "/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}" "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=" -c "${source}" -o "${object}"
    COMMAND "${VESTA_BPFTOOL}" gen skeleton "${object}" name "${name}_bpf" > "${skeleton}"
    DEPENDS "${source}" ${headers}
    COMMENT "Building BPF object ${name}"
    VERBATIM)
  add_custom_target(bpf_${name}_skeleton DEPENDS "${skeleton}")
  add_dependencies(bpf_skeletons bpf_${name}_skeleton)
  add_library(bpf_${name} INTERFACE)
  add_dependencies(bpf_${name} bpf_${name}_skeleton)
  # SYSTEM: generated code does not answer to our warnings.
  target_include_directories(bpf_${name} SYSTEM INTERFACE "${folder}")
  target_link_libraries(bpf_${name} INTERFACE PkgConfig::BPF)
endfunction()
