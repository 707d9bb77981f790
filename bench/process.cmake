vesta_bench(process SOURCES process_bench.cc DEPS vesta_process)
