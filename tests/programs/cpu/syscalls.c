// Burns CPU inside the kernel: reads /dev/zero until it is killed.
#include <fcntl.h>
#include <unistd.h>

static char buffer[1 << 20];

__attribute__((noinline, noclone)) static long read_zeroes(int fd) {
  long got = read(fd, buffer, sizeof(buffer));
  __asm__ volatile("" : "+r"(got));
  return got;
}

int main(void) {
  int fd = open("/dev/zero", O_RDONLY);
  while (read_zeroes(fd) > 0) {
  }
  return 1;
}
