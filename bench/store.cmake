vesta_library(fleet
  SOURCES fleet/fleet.cc
  DEPS vesta_formats_pprof vesta_formats_common vesta_profile)
target_include_directories(vesta_fleet PUBLIC "${CMAKE_CURRENT_LIST_DIR}")

if(TARGET vesta_store_rocksdb)
  # Not vesta_bench(): each figure needs a process of its own, which Google Benchmark does not do.
  add_executable(store_bench store/measure.cc store/phases.cc store/queries.cc store/store_bench.cc)
  target_link_libraries(store_bench PRIVATE vesta_fleet vesta_store_rocksdb vesta_query)
endif()
