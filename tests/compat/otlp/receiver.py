"""Receives OTLP with the official classes: profiles over gRPC and HTTP, logs over HTTP. Prints its ports as a JSON line, then
serves until standard input ends; every message is written to a numbered file of the folder it is given.

receiver.py FOLDER [fail=N]   fail=N: the first N requests of each kind are answered with 503 / UNAVAILABLE
"""

import gzip
import json
import sys
import threading
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grpc
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as profiles
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2_grpc as service

FOLDER = Path(sys.argv[1])
FAIL = int(next((word[5:] for word in sys.argv[2:] if word.startswith("fail=")), 0))
lock = threading.Lock()
count = {}


def keep(kind, message):
    """False when this one is to fail."""
    with lock:
        count[kind] = count.get(kind, 0) + 1
        if count[kind] <= FAIL:
            return False
        path = FOLDER / f"{kind}-{count[kind]:06}.pb"
        path.with_suffix(".new").write_bytes(message.SerializeToString())
        path.with_suffix(".new").rename(path)
        return True


class Profiles(service.ProfilesServiceServicer):
    def Export(self, request, context):
        if not keep("grpc", request):
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
        return profiles.ExportProfilesServiceResponse()


class Http(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        kind, request, answer = {
            "/v1development/profiles": ("http", profiles.ExportProfilesServiceRequest(), profiles.ExportProfilesServiceResponse()),
            "/v1/logs": ("logs", logs.ExportLogsServiceRequest(), logs.ExportLogsServiceResponse()),
        }[self.path]
        request.ParseFromString(body)
        status = 200 if keep(kind, request) else 503
        out = answer.SerializeToString()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *_):
        pass


def main():
    server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", 64 << 20)])
    service.add_ProfilesServiceServicer_to_server(Profiles(), server)
    grpc_port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    web = ThreadingHTTPServer(("127.0.0.1", 0), Http)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    print(json.dumps({"grpc": grpc_port, "http": web.server_address[1]}), flush=True)
    sys.stdin.read()
    server.stop(1)


main()
