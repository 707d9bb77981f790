"""Disks that fail on demand: a small file system of its own that can be filled up, and a library that a server is started with and that lets
its writes fail while a file exists."""

import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import support

MEBIBYTE = 1 << 20

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// The control file holds the number of the error and how many bytes may be written before the first one.
static int fault(const char* path, long* allowed) {
  const char* control = getenv("VESTA_TEST_FAULT");
  if (control == NULL || path == NULL || strstr(path, "/store/") == NULL) return 0;
  static int (*real_open)(const char*, int, ...);
  if (real_open == NULL) real_open = dlsym(RTLD_NEXT, "open");
  const int fd = real_open(control, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[64] = {0};
  const ssize_t got = read(fd, text, sizeof(text) - 1);
  close(fd);
  int number = 0;
  long budget = 0;
  if (got <= 0 || sscanf(text, "%d %ld", &number, &budget) < 1) return 0;
  static long used;
  static long of_budget = -1;
  if (of_budget != budget) {
    of_budget = budget;
    used = 0;
  }
  if (allowed != NULL) {
    const long left = budget - used;
    if (left >= *allowed) {
      used += *allowed;
      return 0;
    }
    *allowed = left > 0 ? left : 0;
    used = budget;
  } else if (used < budget) {
    return 0;
  }
  return number;
}

static const char* path_of(int fd, char* out, size_t size) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t got = readlink(link, out, size - 1);
  if (got <= 0) return NULL;
  out[got] = 0;
  return out;
}

ssize_t write(int fd, const void* bytes, size_t count) {
  static ssize_t (*real)(int, const void*, size_t);
  if (real == NULL) real = dlsym(RTLD_NEXT, "write");
  char path[4096];
  long allowed = (long)count;
  const int error = fd > 2 ? fault(path_of(fd, path, sizeof(path)), &allowed) : 0;
  if (error == 0) return real(fd, bytes, count);
  if (allowed > 0) return real(fd, bytes, (size_t)allowed);  // half a record, then the error
  errno = error;
  return -1;
}

#define SYNC(name)                                                             \
  int name(int fd) {                                                           \
    static int (*real)(int);                                                   \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name);                          \
    char path[4096];                                                           \
    const int error = fault(path_of(fd, path, sizeof(path)), NULL);            \
    if (error == 0) return real(fd);                                           \
    errno = error;                                                             \
    return -1;                                                                 \
  }
SYNC(fsync)
SYNC(fdatasync)

#define OPEN(name)                                                             \
  int name(const char* path, int flags, ...) {                                 \
    static int (*real)(const char*, int, ...);                                 \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name);                          \
    mode_t mode = 0;                                                           \
    if (flags & O_CREAT) {                                                     \
      va_list rest;                                                            \
      va_start(rest, flags);                                                   \
      mode = va_arg(rest, mode_t);                                             \
      va_end(rest);                                                            \
      const int error = fault(path, NULL);                                     \
      if (error != 0) {                                                        \
        errno = error;                                                         \
        return -1;                                                             \
      }                                                                        \
    }                                                                          \
    return real(path, flags, mode);                                            \
  }
OPEN(open)
OPEN(open64)
"""


class SmallDisk:
    """A file system of `size` mebibytes; skips the test where none can be mounted. Use as a context manager."""

    def __init__(self, size, kind="tmpfs"):
        if os.geteuid() != 0:
            support.skip("needs root to mount a small file system")
        self.folder = Path(tempfile.mkdtemp(prefix="vesta-disk-"))
        self.image = None
        if kind == "tmpfs":
            command = ["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", str(self.folder)]
        else:
            self.image = self.folder.with_suffix(".image")
            with open(self.image, "wb") as file:
                file.truncate(size * MEBIBYTE)
            # Nothing is kept back for root, which tests run as.
            subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(self.image)], check=True, capture_output=True)
            command = ["mount", "-o", "loop", str(self.image), str(self.folder)]
        mounted = subprocess.run(command, capture_output=True, text=True)
        if mounted.returncode != 0:
            self.remove()
            support.skip(f"cannot mount a {kind}: {mounted.stderr.strip()}")
        self.filler = self.folder / "filler"

    def fill(self, leave=0):
        """Until not one more byte can be written, then `leave` bytes are given back."""
        with open(self.filler, "ab", buffering=0) as file:
            step = MEBIBYTE
            while step > 0:
                try:
                    if file.write(b"\xa5" * step) < step:
                        step //= 2
                except OSError:
                    step //= 2
            size = os.fstat(file.fileno()).st_size
            file.truncate(max(0, size - leave))

    def free(self):
        self.filler.unlink(missing_ok=True)

    def remove(self):
        subprocess.run(["umount", "-l", str(self.folder)], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.image is not None:
            self.image.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class FailingWrites:
    """Lets the writes of a server fail: start it with `environment`."""

    def __init__(self):
        compiler = support.need_command("cc")
        self.folder = Path(tempfile.mkdtemp(prefix="vesta-shim-"))
        source, library = self.folder / "shim.c", self.folder / "shim.so"
        source.write_text(SHIM)
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(library), str(source), "-ldl"], check=True)
        self.control = self.folder / "control"
        self.environment = {"LD_PRELOAD": str(library), "VESTA_TEST_FAULT": str(self.control)}

    def fail(self, error, after):
        """From now on with this errno, once so many bytes were written."""
        new = self.folder / "control.new"
        new.write_text(f"{error} {after}\n")
        new.rename(self.control)

    def heal(self):
        self.control.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


def some_bytes(generator=random):
    """A budget that ends anywhere in a record."""
    return generator.randrange(1, 6000)
