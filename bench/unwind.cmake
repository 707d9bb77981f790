vesta_bench(unwind_table SOURCES unwind_table_bench.cc DEPS vesta_unwind)
