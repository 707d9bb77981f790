# Archives in place of shared libraries, where Debian has them: a start of `vesta` maps 8 libraries instead of 98.
# docs/decisions/028-archives.md has the figures.

set(folder "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")

# Path of a shared library -> path of its archive, in `out`; unchanged where it has none or should stay shared.
function(vesta_archive_of path out)
  set(${out} "${path}" PARENT_SCOPE)
  if(path MATCHES "^(/.*/lib([^/]+))\\.so[.0-9]*$")
    set(archive "${CMAKE_MATCH_1}.a")
    if(NOT CMAKE_MATCH_2 MATCHES "^(c|m|rt|dl|pthread)$" AND EXISTS "${archive}")
      set(${out} "${archive}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(vesta_use_archives)
  foreach(target ${ARGN})
    foreach(property INTERFACE_LINK_LIBRARIES IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE IMPORTED_LOCATION_NONE)
      get_target_property(paths ${target} ${property})
      if(paths)
        set(archives "")
        foreach(path ${paths})
          vesta_archive_of("${path}" archive)
          list(APPEND archives "${archive}")
        endforeach()
        set_target_properties(${target} PROPERTIES ${property} "${archives}")
      endif()
    endforeach()
  endforeach()
endfunction()

vesta_use_archives(PkgConfig::RE2 PkgConfig::ZSTD PkgConfig::DEFLATE PkgConfig::LZMA PkgConfig::BPF PkgConfig::XXHASH PkgConfig::GRPC
                   PkgConfig::NGHTTP2 PkgConfig::YAML protobuf::libprotobuf OpenSSL::SSL OpenSSL::Crypto)
# An archive does not say what it calls.
target_link_libraries(PkgConfig::GRPC INTERFACE PkgConfig::RE2)
target_link_libraries(PkgConfig::BPF INTERFACE "${folder}/libelf.a" "${folder}/libz.a")
set_target_properties(RocksDB::rocksdb PROPERTIES INTERFACE_LINK_LIBRARIES
  "${folder}/libsnappy.a;${folder}/libbz2.a;${folder}/liblz4.a;${folder}/libzstd.a;${folder}/libz.a")
# Addresses that only have to be shifted at a start, as bits instead of 24 bytes each (glibc 2.36).
add_link_options(-Wl,-z,pack-relative-relocs)
