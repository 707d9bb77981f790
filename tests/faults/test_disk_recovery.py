"""A disk that fails in the middle of a write and comes back: all that was acknowledged, before and after, is there after a kill.

VESTA_FAULT_ITERATIONS says how often each fault is repeated; every iteration fills the disk, or fails it, at another byte.
"""

import errno
import http.client
import os
import random
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from disk_faults import FailingWrites, SmallDisk, some_bytes  # noqa: E402
from server import Server  # noqa: E402

ITERATIONS = int(os.environ.get("VESTA_FAULT_ITERATIONS") or 8)
PUSHES = 60  # after the disk is back
SECONDS = 60


class Client:
    """One connection that stays open."""

    def __init__(self, server):
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=SECONDS)

    def push(self, number, padding=0):
        body = f"main;number_{number};{'x' * padding} 1\n".encode()
        query = urlencode({"service_name": "disk", "time": time.time_ns(), "labels": f"number={number % 7}"})
        self.connection.request("POST", f"/api/v1/profiles?{query}", body)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def close(self):
        self.connection.close()


def names(server):
    query = urlencode({"query": 'cpu{service_name="disk"}', "from": "now-2h", "to": "now", "format": "folded"})
    status, _, body = server.request(f"/api/v1/export?{query}")
    if status != 200:
        return set()
    stacks = (line.rpartition(" ")[0] for line in body.decode(errors="replace").splitlines())
    return {stack.split(";")[1] for stack in stacks if ";" in stack}


class Recovery(unittest.TestCase):
    def cycle(self, server, generator, first, fail, heal):
        """Pushes, fails, heals, pushes without a pause from several clients; returns the names that were acknowledged."""
        acknowledged = set()
        client = Client(server)
        for number in range(first, first + 20):
            status, text = client.push(number, generator.randrange(400))
            self.assertEqual(status, 200, text)
            acknowledged.add(f"number_{number}")
        fail()
        deadline = time.monotonic() + SECONDS
        number = first + 1000
        refused = 0
        while refused < 3:
            self.assertLess(time.monotonic(), deadline, "the disk fails, but writes are taken")
            status, text = client.push(number, generator.randrange(2000))
            self.assertIn(status, (200, 503), text)
            if status == 200:
                acknowledged.add(f"number_{number}")
            else:
                refused += 1
            number += 1
        # Reads go on.
        self.assertLessEqual(acknowledged, names(server))
        heal()
        deadline = time.monotonic() + SECONDS
        while client.push(number)[0] != 200:
            self.assertLess(time.monotonic(), deadline, f"the disk is back, but writes are refused\n{server.log()}")
            number += 1
        acknowledged.add(f"number_{number}")
        taken = [[] for _ in range(3)]

        def push_many(place):
            mine = Client(server)
            for i in range(PUSHES // len(taken)):
                own = first + 10_000 + 1000 * place + i
                if mine.push(own, generator.randrange(300))[0] == 200:
                    taken[place].append(f"number_{own}")
            mine.close()

        threads = [threading.Thread(target=push_many, args=(place,)) for place in range(len(taken))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client.close()
        for some in taken:
            acknowledged.update(some)
        self.assertGreaterEqual(sum(map(len, taken)), PUSHES - 3, "the disk is back, but writes were refused")
        return acknowledged

    def repeat(self, data, fail, heal, environment=None):
        seed = random.randrange(1 << 32)
        generator = random.Random(seed)
        server = Server(data=data, environment=environment)
        server.log_path = Path(tempfile.gettempdir()) / f"{data.parent.name}.log"
        acknowledged = set()
        try:
            server.start()
            for iteration in range(ITERATIONS):
                with self.subTest(iteration=iteration, seed=seed):
                    acknowledged |= self.cycle(server, generator, iteration * 100_000, lambda: fail(generator), heal)
                    server.kill()
                    server.start()
                    missing = acknowledged - names(server)
                    if missing:
                        self.fail(f"{len(missing)} of {len(acknowledged)} acknowledged profiles are gone\n{server.log()}")
                    # The disk is small: what was counted may go.
                    if iteration % 10 == 9:
                        self.assertEqual(server.request("/api/v1/series?query={}&all_time=true", method="DELETE")[0], 200)
                        acknowledged = set()
        finally:
            heal()
            server.__exit__()

    def test_a_full_disk(self):
        for kind in ("tmpfs", "ext4"):
            with self.subTest(kind=kind), SmallDisk(20, kind) as disk:
                self.repeat(disk.folder / "data", lambda generator: disk.fill(4096 * generator.randrange(3)), disk.free)

    def test_errors_of_the_device(self):
        self.fail_writes(errno.EIO)

    def test_a_file_system_that_turns_read_only(self):
        self.fail_writes(errno.EROFS)

    def fail_writes(self, error):
        with FailingWrites() as writes, tempfile.TemporaryDirectory(prefix="vesta-failing-") as folder:
            self.repeat(Path(folder) / "data", lambda generator: writes.fail(error, some_bytes(generator)), writes.heal,
                        writes.environment)


support.main()
