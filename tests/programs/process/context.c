// A process that publishes an OpenTelemetry process context (OTEP 4719) as it is told, one command
// per line of standard input, and answers each with one line. First of all it says "ready".
//
//   publish memfd HEX   header and payload in a private mapping of a memfd
//   publish anon HEX    … in anonymous memory that has a name
//   publish heap HEX    header in a memfd, payload from malloc
//   set version N, set size N, set stamp N, set pointer N
//                       changes a field of the header
//   flip HEX HEX        from now on publishes one and the other in turn, as fast as it can
//
// Ends when its input does.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

struct header {
  char signature[8];
  uint32_t version;
  uint32_t payload_bytes;
  uint64_t published_ns;
  uint64_t payload;
};

enum { kMappingBytes = 1 << 17 };
static struct header* header;

struct payload {
  char* bytes;
  size_t size;
};

static struct payload from_hex(const char* text) {
  struct payload out = {malloc(strlen(text) / 2 + 1), strlen(text) / 2};
  for (size_t i = 0; i < out.size; ++i) {
    unsigned value = 0;
    sscanf(text + 2 * i, "%2x", &value);
    out.bytes[i] = (char)value;
  }
  return out;
}

static void publish(const char* how, const char* hex) {
  const struct payload payload = from_hex(hex);
  const int is_anonymous = strcmp(how, "anon") == 0;
  void* memory = MAP_FAILED;
  if (is_anonymous) {
    memory = mmap(NULL, kMappingBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, memory, kMappingBytes, "OTEL_CTX");
  } else {
    const int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, kMappingBytes) == 0)
      memory = mmap(NULL, kMappingBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
  }
  if (memory == MAP_FAILED) {
    puts("failed");
    return;
  }
  madvise(memory, kMappingBytes, MADV_DONTFORK);
  header = memory;
  char* where = payload.bytes;
  if (strcmp(how, "heap") != 0) {
    where = (char*)memory + sizeof(struct header);
    memcpy(where, payload.bytes, payload.size);
  }
  header->version = 2;
  header->payload_bytes = (uint32_t)payload.size;
  header->published_ns = 1;
  header->payload = (uint64_t)where;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  memcpy(header->signature, "OTEL_CTX", 8);
  puts("ok");
}

static void set(const char* field, uint64_t value) {
  if (strcmp(field, "version") == 0) header->version = (uint32_t)value;
  if (strcmp(field, "size") == 0) header->payload_bytes = (uint32_t)value;
  if (strcmp(field, "stamp") == 0) header->published_ns = value;
  if (strcmp(field, "pointer") == 0) header->payload = value;
  puts("ok");
}

static struct payload choices[2];

static void* flip(void* unused) {
  char* area = (char*)header + sizeof(struct header);
  for (uint64_t stamp = 2;; ++stamp) {
    const struct payload* next = &choices[stamp % 2];
    __atomic_store_n(&header->published_ns, 0, __ATOMIC_SEQ_CST);
    memcpy(area, next->bytes, next->size);
    header->payload_bytes = (uint32_t)next->size;
    __atomic_store_n(&header->published_ns, stamp, __ATOMIC_SEQ_CST);
    for (volatile int i = 0; i < 20000; ++i) {
    }
  }
  return unused;
}

int main(void) {
  static char line[1 << 18];
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char* rest = line;
    const char* command = strsep(&rest, " ");
    const char* first = rest == NULL ? "" : strsep(&rest, " ");
    const char* second = rest == NULL ? "" : rest;
    if (strcmp(command, "publish") == 0) {
      publish(first, second);
    } else if (strcmp(command, "set") == 0) {
      set(first, strtoull(second, NULL, 0));
    } else if (strcmp(command, "flip") == 0) {
      pthread_t thread;
      choices[0] = from_hex(first);
      choices[1] = from_hex(second);
      puts(pthread_create(&thread, NULL, flip, NULL) == 0 ? "ok" : "failed");
    } else {
      puts("what?");
    }
    fflush(stdout);
  }
  return 0;
}
