module vesta.test/compat

go 1.19

require (
	github.com/grafana/pyroscope-go v1.1.2
	github.com/grafana/pyroscope-go/godeltaprof v0.1.8
)

require github.com/klauspost/compress v1.17.8 // indirect
