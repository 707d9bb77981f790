"""Burns CPU under the Pyroscope SDK for Python, then leaves. Usage: burn.py SERVER"""

import json
import os
import sys
import time

import pyroscope


def spin(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for number in range(20000):
            total += number * number
    return total


def heavy():
    spin(0.3)


def light():
    spin(0.1)


def main():
    token = os.environ.get("VESTA_TOKEN", "")
    pyroscope.configure(application_name="compat.python", server_address=sys.argv[1], sample_rate=100,
                        tags={"region": "south"}, http_headers={"Authorization": f"Bearer {token}"} if token else {})
    start = time.time()
    # The SDK sends what it has every ten seconds.
    while time.time() - start < 12:
        with pyroscope.tag_wrapper({"path": "/heavy"}):
            heavy()
        with pyroscope.tag_wrapper({"path": "/light"}):
            light()
    busy_ns = int((time.time() - start) * 1e9)
    pyroscope.shutdown()
    # The SDK counts a thread that waits for a CPU as running: it measures the time of the loop above.
    print(json.dumps({"busy_ns": busy_ns, "cpu_ns": time.process_time_ns()}))


main()
