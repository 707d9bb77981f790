"""Backups while others are made, and who may read what the server and its commands write."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from server import Server  # noqa: E402


def push(server, number, stacks=1):
    body = "".join(f"main;number_{number};stack_{i} 1\n" for i in range(stacks)).encode()
    query = urlencode({"service_name": "disk", "time": time.time_ns()})
    return server.request(f"/api/v1/profiles?{query}", body)[0]


def names(server):
    query = urlencode({"query": 'cpu{service_name="disk"}', "from": "now-2h", "to": "now", "format": "folded"})
    body = server.request(f"/api/v1/export?{query}")[2]
    return {line.split(";")[1] for line in body.decode(errors="replace").splitlines() if ";" in line}


def readable_by_others(folder):
    """Paths below a folder, itself included, that are not for their owner alone."""
    paths = [Path(folder), *Path(folder).rglob("*")]
    return [f"{path} {stat.filemode(path.lstat().st_mode)}" for path in paths
            if not path.is_symlink() and path.lstat().st_mode & 0o077]


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="vesta-backup-"))
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", str(self.folder)], check=False))
        self.addCleanup(os.umask, os.umask(0))
        self.backups = self.folder / "backups"
        self.server = Server("--backups", self.backups)
        self.addCleanup(self.server.__exit__)
        self.server.start()

    def backup(self, name):
        return self.server.request(f"/api/v1/backup?name={name}", method="POST", timeout=300)

    def restored(self, name, to):
        support.vesta("restore", self.backups / name, self.folder / to)
        with Server(data=self.folder / to) as server:
            return names(server)

    def test_backups_of_one_name_do_not_destroy_each_other(self):
        taken = set()
        for number in range(30):
            self.assertEqual(push(self.server, number, 200), 200)
            taken.add(f"number_{number}")
        self.assertEqual(self.backup("nightly")[0], 200)
        for attempt in range(3):
            self.assertEqual(push(self.server, 100 + attempt, 200), 200)
            taken.add(f"number_{100 + attempt}")
            answers = []
            threads = [threading.Thread(target=lambda: answers.append(self.backup("nightly"))) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            statuses = sorted(answer[0] for answer in answers)
            self.assertEqual(set(statuses) - {200, 409}, set(), answers)
            self.assertIn(200, statuses)
            for status, _, body in answers:
                if status == 409:
                    self.assertIn(b"another backup is in progress", body)
            self.assertEqual(self.restored("nightly", f"restored-{attempt}"), taken)

    def test_a_backup_that_cannot_be_read_back_leaves_the_earlier_one(self):
        for number in range(10):
            self.assertEqual(push(self.server, number, 50), 200)
        self.assertEqual(self.backup("nightly")[0], 200)
        earlier = {path.name for path in (self.backups / "nightly" / "meta").iterdir()}
        shared = sorted((self.backups / "nightly" / "shared_checksum").iterdir(), key=lambda path: path.stat().st_size)
        with open(shared[-1], "r+b") as file:
            file.seek(20)
            file.write(b"\xa5" * 20)
        self.assertEqual(push(self.server, 100), 200)
        status, _, body = self.backup("nightly")
        self.assertNotEqual(status, 200, "a backup with a damaged file counts as made")
        self.assertIn(b"previous one is intact", body)
        self.assertEqual({path.name for path in (self.backups / "nightly" / "meta").iterdir()}, earlier)
        self.assertEqual(self.backup("another")[0], 200)

    def test_profiles_are_for_their_owner_alone(self):
        """Whatever the umask: here it is 0."""
        self.assertEqual(push(self.server, 1), 200)
        self.assertEqual(self.backup("nightly")[0], 200)
        self.assertEqual(readable_by_others(self.server.data), [])
        self.assertEqual(readable_by_others(self.backups / "nightly"), [])
        support.vesta("restore", self.backups / "nightly", self.folder / "restored")
        self.assertEqual(readable_by_others(self.folder / "restored"), [])
        for name in ("out.pb.gz", "out.folded"):
            support.vesta("export", 'cpu{service_name="disk"}', "--server", self.server.url, "--from", "-1h", "-o", self.folder / name)
            self.assertEqual(readable_by_others(self.folder / name), [])


support.main()
