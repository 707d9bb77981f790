"""A disk that is full, and files that were damaged: writes are refused while there is no room, reads go on, nothing that could still be
read is lost, and the server says what is wrong."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from disk_faults import SmallDisk  # noqa: E402
from server import Server  # noqa: E402

MEBIBYTE = 1 << 20


def push(server, number, stacks=1, when=None):
    body = "".join(f"main;number_{number};stack_{i} {number + 1}\n" for i in range(stacks)).encode()
    query = urlencode({"service_name": "disk", "time": when or time.time_ns(), "labels": f"number={number % 10}"})
    status, _, text = server.request(f"/api/v1/profiles?{query}", body)
    return status, text


def names(server):
    query = urlencode({"query": 'cpu{service_name="disk"}', "from": "now-2h", "to": "now", "format": "folded"})
    status, _, body = server.request(f"/api/v1/export?{query}")
    return status, {line.split(";")[1] for line in body.decode(errors="replace").splitlines() if ";" in line}


class Disk(unittest.TestCase):
    def test_a_full_disk_refuses_writes_until_there_is_room(self):
        if os.geteuid() != 0:
            support.skip("needs root to mount a small file system")
        folder = tempfile.mkdtemp(prefix="vesta-disk-")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", folder], capture_output=True, text=True)
        if mounted.returncode != 0:
            support.skip(f"cannot mount a tmpfs: {mounted.stderr.strip()}")
        try:
            server = Server(data=Path(folder) / "data")
            server.log_path = Path(tempfile.gettempdir()) / f"{Path(folder).name}.log"
            with server:
                taken = set()
                for number in range(20):
                    self.assertEqual(push(server, number)[0], 200)
                    taken.add(f"number_{number}")
                filler = Path(folder) / "filler"
                with open(filler, "wb") as file:
                    try:
                        while True:
                            file.write(os.urandom(MEBIBYTE))
                            file.flush()
                    except OSError:
                        pass
                refused = False
                deadline = time.monotonic() + 120
                number = 1000
                while not refused and time.monotonic() < deadline:
                    status, text = push(server, number, 500)
                    self.assertIn(status, (200, 503), text)
                    if status == 200:
                        taken.add(f"number_{number}")
                    refused = status == 503
                    number += 1
                self.assertTrue(refused, "the disk is full, but writes are taken")
                self.assertIn(b"disk", text)
                # Reads go on.
                status, found = names(server)
                self.assertEqual(status, 200)
                self.assertLessEqual(taken, found)
                filler.unlink()
                deadline = time.monotonic() + 120
                while push(server, 5000)[0] != 200:
                    self.assertLess(time.monotonic(), deadline, "there is room again, but writes are still refused")
                    time.sleep(0.2)
                taken.add("number_5000")
                self.assertLessEqual(taken, names(server)[1])
                # And after a restart nothing that was taken is missing.
                server.stop()
                server.start()
                self.assertLessEqual(taken, names(server)[1])
        finally:
            subprocess.run(["umount", "-l", folder], check=False)
            shutil.rmtree(folder, ignore_errors=True)

    def test_a_start_on_a_full_disk_serves_reads_and_deletes(self):
        for kind, stop in (("tmpfs", "stop"), ("ext4", "kill")):
            with self.subTest(kind=kind), SmallDisk(40, kind) as disk:
                server = Server(data=disk.folder / "data")
                server.log_path = Path(tempfile.gettempdir()) / f"{disk.folder.name}.log"
                with server:
                    taken = set()
                    for number in range(60):
                        self.assertEqual(push(server, number, 100)[0], 200)
                        taken.add(f"number_{number}")
                    getattr(server, stop)()
                    disk.fill()
                    server.start()
                    self.assertLessEqual(taken, names(server)[1])
                    status, text = push(server, 100)
                    self.assertEqual(status, 503, text)
                    self.assertIn(b"disk is full", text)
                    self.assertIn("disk is full", server.log())
                    query = urlencode({"query": '{number="3"}', "all_time": "true"})
                    status, _, text = server.request(f"/api/v1/series?{query}", method="DELETE")
                    self.assertEqual(status, 200, text)
                    kept = {name for name in taken if not name.endswith("3")}
                    self.assertEqual(names(server)[1], kept)
                    # A deletion that was acknowledged holds, and the disk is still full.
                    server.kill()
                    server.start()
                    self.assertEqual(names(server)[1], kept)
                    self.assertEqual(push(server, 101)[0], 503)
                    disk.free()
                    deadline = time.monotonic() + 60
                    while push(server, 102)[0] != 200:
                        self.assertLess(time.monotonic(), deadline, f"there is room, but writes are refused\n{server.log()}")
                    self.assertIn("writes are accepted again", server.log())
                    server.kill()
                    server.start()
                    self.assertEqual(names(server)[1], kept | {"number_102"})

    def test_a_damaged_tail_of_the_log_costs_the_tail_only(self):
        server = Server()
        try:
            server.start()
            for number in range(50):
                self.assertEqual(push(server, number)[0], 200)
            server.kill()
            logs = sorted(server.data.rglob("*.log"), key=lambda path: path.stat().st_size)
            self.assertTrue(logs, "no write-ahead log")
            size = logs[-1].stat().st_size
            with open(logs[-1], "r+b") as file:
                file.seek(size - 40)
                file.write(b"\xa5" * 40)
            server.start()
            status, found = names(server)
            self.assertEqual(status, 200)
            expected = {f"number_{number}" for number in range(50)}
            self.assertLessEqual(len(expected - found), 1, "more than the damaged end is gone")
            self.assertEqual(push(server, 99)[0], 200)
        finally:
            server.__exit__()

    def test_a_damaged_table_is_told_of_and_the_rest_is_served(self):
        server = Server()
        try:
            server.start()
            for number in range(50):
                self.assertEqual(push(server, number, 50)[0], 200)
            self.assertEqual(server.stop(), 0)
            server.start()
            self.assertEqual(push(server, 77)[0], 200)
            self.assertEqual(server.stop(), 0)
            tables = sorted(server.data.rglob("*.sst"), key=lambda path: path.stat().st_size)
            self.assertTrue(tables, "no table files")
            with open(tables[-1], "r+b") as file:
                file.seek(200)
                file.write(b"\xa5" * 400)
            try:
                server.start()
            except AssertionError as problem:
                # It may refuse to start, if it says what is wrong.
                self.assertRegex(str(problem), "(?i)corrupt|damaged|checksum")
                return
            status, _, body = server.request("/api/v1/export?" + urlencode(
                {"query": 'cpu{service_name="disk"}', "from": "now-2h", "to": "now", "format": "folded"}))
            if status != 200:
                self.assertRegex(body.decode(), "(?i)corrupt|damaged|checksum")
            self.assertEqual(server.request("/ready")[0], 200)
            self.assertIsNone(server.process.poll())
        finally:
            server.__exit__()


support.main()
