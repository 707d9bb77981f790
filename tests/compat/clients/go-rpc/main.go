// Calls one method of a server by gRPC (grpc-go, or connect-go), gRPC-Web, Connect or Connect's GET, over HTTP/2 with TLS or
// without. The message comes from standard input as bytes; prints {"code", "message", "response" in base64, "proto"} as JSON.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Messages as they are: what is in them is for the test to know.
type raw struct{ bytes []byte }

type codec struct{ name string }

func (c codec) Name() string   { return c.name }
func (c codec) IsBinary() bool { return c.name != "json" }
func (c codec) Marshal(message any) ([]byte, error) {
	return message.(*raw).bytes, nil
}
func (c codec) MarshalStable(message any) ([]byte, error) { return c.Marshal(message) }
func (c codec) Unmarshal(data []byte, message any) error {
	message.(*raw).bytes = append([]byte(nil), data...)
	return nil
}

type outcome struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Response []byte `json:"response"`
	Proto    string `json:"proto"`
}

// Notes which version of HTTP was spoken.
type watch struct {
	next  http.RoundTripper
	proto string
}

func (w *watch) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(request)
	if err == nil {
		w.proto = response.Proto + " " + response.Request.Method
	}
	return response, err
}

func main() {
	protocol := flag.String("protocol", "grpc", "grpc, connect-grpc, grpc-web, connect or connect-get")
	jsonCodec := flag.Bool("json", false, "messages are JSON")
	compress := flag.Bool("gzip", false, "compress what is sent")
	token := flag.String("token", "", "for Authorization")
	ca := flag.String("ca", "", "the authority of the server's certificate; with it, TLS")
	http1 := flag.Bool("http1", false, "HTTP/1.1 instead of HTTP/2")
	flag.Parse()
	url, method := flag.Arg(0), flag.Arg(1)
	message, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var tlsConfig *tls.Config
	if *ca != "" {
		pem, err := os.ReadFile(*ca)
		if err != nil {
			panic(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		tlsConfig = &tls.Config{RootCAs: pool, ServerName: "localhost"}
	}
	name := "proto"
	if *jsonCodec {
		name = "json"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var out outcome
	if *protocol == "grpc" {
		out = callGrpc(ctx, url, method, message, codec{name}, *compress, *token, tlsConfig)
	} else {
		out = callConnect(ctx, *protocol, url, method, message, codec{name}, *compress, *token, tlsConfig, *http1)
	}
	text, _ := json.Marshal(out)
	fmt.Println(string(text))
}

func callGrpc(ctx context.Context, url, method string, message []byte, codec codec, compress bool, token string, config *tls.Config) outcome {
	secure := insecure.NewCredentials()
	if config != nil {
		secure = credentials.NewTLS(config)
	}
	target := strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://")
	connection, err := grpc.Dial(target, grpc.WithTransportCredentials(secure))
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	options := []grpc.CallOption{grpc.ForceCodec(codec)}
	if compress {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	var answer raw
	err = connection.Invoke(ctx, method, &raw{message}, &answer, options...)
	return outcome{strings.ToLower(status.Code(err).String()), status.Convert(err).Message(), answer.bytes, "grpc-go"}
}

func callConnect(ctx context.Context, protocol, url, method string, message []byte, codec codec, compress bool, token string, config *tls.Config, http1 bool) outcome {
	var transport http.RoundTripper
	if http1 {
		transport = &http.Transport{TLSClientConfig: config}
	} else if config != nil {
		transport = &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	} else {
		transport = &http2.Transport{AllowHTTP: true, DialTLSContext: func(ctx context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}}
	}
	watched := &watch{next: transport}
	options := []connect.ClientOption{connect.WithCodec(codec)}
	if compress {
		options = append(options, connect.WithSendGzip())
	}
	switch protocol {
	case "connect-grpc":
		options = append(options, connect.WithGRPC())
	case "grpc-web":
		options = append(options, connect.WithGRPCWeb())
	case "connect-get":
		options = append(options, connect.WithHTTPGet(), connect.WithIdempotency(connect.IdempotencyNoSideEffects))
	}
	client := connect.NewClient[raw, raw](&http.Client{Transport: watched}, url+method, options...)
	request := connect.NewRequest(&raw{message})
	if token != "" {
		request.Header().Set("Authorization", "Bearer "+token)
	}
	answer, err := client.CallUnary(ctx, request)
	if err != nil {
		var failure *connect.Error
		text := err.Error()
		if errors.As(err, &failure) {
			text = failure.Message()
		}
		return outcome{strings.ReplaceAll(connect.CodeOf(err).String(), "_", ""), text, nil, watched.proto}
	}
	return outcome{"ok", "", answer.Msg.bytes, watched.proto}
}
