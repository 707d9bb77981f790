vesta_bench(jfr
  SOURCES "${CMAKE_CURRENT_LIST_DIR}/jfr_bench.cc"
  DEPS vesta_formats_jfr vesta_formats_jfr_recordings fmt::fmt)
