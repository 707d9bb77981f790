vesta_bench(symbols SOURCES "${CMAKE_CURRENT_LIST_DIR}/symbols_bench.cc" DEPS vesta_symbols)
