vesta_bench(query SOURCES query_bench.cc DEPS vesta_query)
