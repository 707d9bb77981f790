"""`kill -9` of a server under load, a hundred times at random moments: what was acknowledged is there, once, whole.

Every profile has a stack of its own and a weight that only it has, so a lost, doubled or mixed-up one shows in the sum of its stack.
A profile whose request got no answer is sent again after the restart, as clients do: then it must still be there once only.
"""

import http.client
import os
import random
import sys
import threading
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402

CYCLES = int(os.environ.get("VESTA_KILL_CYCLES", "100"))
CLIENTS = 4


class Client(threading.Thread):
    """Sends numbered profiles until the connection breaks; keeps what was not answered for the next round."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number = number
        self.next = 0
        self.unanswered = []
        self.acknowledged = {}
        self.problem = None

    def prepare(self, port):
        fresh = Client(self.number)
        fresh.next, fresh.unanswered, fresh.acknowledged = self.next, self.unanswered, self.acknowledged
        fresh.port = port
        return fresh

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            for profile in list(self.unanswered):
                self.send(connection, profile)
            while True:
                profile = (self.next, time.time_ns())
                self.next += 1
                self.unanswered.append(profile)
                self.send(connection, profile)
        except (OSError, http.client.HTTPException):
            pass  # the server is gone: what this test is about
        except AssertionError as problem:
            self.problem = problem
        finally:
            connection.close()

    def send(self, connection, profile):
        number, when = profile
        weight = number * CLIENTS + self.number + 1
        stack = f"client_{self.number};profile_{number}"
        body = f"main;common {weight}\nmain;{stack} {weight}\n".encode()
        query = urlencode({"service_name": f"service_{number % 3}", "time": when, "labels": f"client={self.number}"})
        connection.request("POST", f"/api/v1/profiles?{query}", body)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise AssertionError(f"{answer.status} {text[:300]!r}")
        self.acknowledged[f"main;{stack}"] = weight
        self.unanswered.remove(profile)


def stored(server):
    """{stack: weight} of everything."""
    now = time.time_ns()
    types = server.get("/api/v1/types", **{"from": "0", "to": now + 10**9})["types"]
    query = urlencode({"query": types[0]["id"] + "{}", "from": "0", "to": now + 10**9, "format": "folded"})
    status, _, body = server.request(f"/api/v1/export?{query}")
    if status != 200:
        raise AssertionError(f"{status} {body[:300]!r}")
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in body.decode().splitlines()}


class Kill(unittest.TestCase):
    def test_what_was_acknowledged_is_there_once(self):
        random.seed(4)
        clients = [Client(number) for number in range(CLIENTS)]
        server = Server()
        try:
            for _ in range(CYCLES):
                server.start()
                clients = [client.prepare(server.http_port) for client in clients]
                for client in clients:
                    client.start()
                time.sleep(random.uniform(0.02, 0.4))
                server.kill()
                for client in clients:
                    client.join(60)
                    if client.problem:
                        raise client.problem
            # One quiet round: everything that is still unanswered goes in.
            server.start()
            expected = {"main;common": 0}
            for client in clients:
                connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=30)
                for profile in list(client.unanswered):
                    client.send(connection, profile)
                connection.close()
                expected.update(client.acknowledged)
            expected["main;common"] = sum(expected.values())
            found = stored(server)
            self.assertGreater(len(expected), 20 * CLIENTS, "hardly anything was sent")
            missing = {stack: weight for stack, weight in expected.items() if found.get(stack) != weight}
            self.assertEqual(missing, {}, f"of {len(expected)} stacks")
            self.assertEqual(set(found) - set(expected), set())
            self.assertEqual(server.stop(), 0)
            print(f"{CYCLES} kills, {len(expected) - 1} profiles, all there once", flush=True)
        finally:
            server.__exit__()


support.main()
