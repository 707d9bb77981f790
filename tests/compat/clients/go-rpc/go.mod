module vesta.test/rpc

go 1.19

require (
	connectrpc.com/connect v1.11.1
	golang.org/x/net v0.17.0
	google.golang.org/grpc v1.58.3
)

require (
	github.com/golang/protobuf v1.5.3 // indirect
	golang.org/x/sys v0.13.0 // indirect
	golang.org/x/text v0.13.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20230711160842-782d3b101e98 // indirect
	google.golang.org/protobuf v1.31.0 // indirect
)
