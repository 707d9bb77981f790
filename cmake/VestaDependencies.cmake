# Third-party libraries, all from Debian packages. The reason for each is in docs/decisions/dependencies.md.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(CURL REQUIRED)  # headers; the library is loaded when it is needed
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(BPF REQUIRED IMPORTED_TARGET libbpf)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_library(VESTA_LIBIBERTY iberty REQUIRED)  # static, from libiberty-dev; it comes without a .pc file
find_package(RocksDB REQUIRED)
find_package(roaring REQUIRED)
find_package(Protobuf REQUIRED)
include(VestaGrpc)
pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2)
find_package(Boost 1.81 REQUIRED)  # Beast, Asio, URL: headers alone
find_package(OpenSSL REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-cpp)
if(VESTA_TESTS)
  find_package(GTest REQUIRED)
  pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)  # elfutils judges our tables and stacks
endif()
if(VESTA_BENCH)
  find_package(benchmark REQUIRED)
endif()

add_library(vesta_rocksdb_library INTERFACE)  # what the store links with
if(VESTA_ARCHIVES)
  target_link_libraries(vesta_rocksdb_library INTERFACE RocksDB::rocksdb)
  include(VestaArchives)
else()
  target_link_libraries(vesta_rocksdb_library INTERFACE RocksDB::rocksdb-shared)
endif()
