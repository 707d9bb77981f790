vesta_bench(merge SOURCES merge_bench.cc DEPS vesta_reports)
