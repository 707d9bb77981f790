vesta_bench(ingest
  SOURCES ingest_bench.cc
  DEPS vesta_server_ingest vesta_bench_synthetic_pprof)
