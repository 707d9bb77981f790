// Writes code into memory and runs it for ever, as a compiler at run time does, with a frame
// pointer. Prints where the code is and how long: "ADDRESS SIZE", hexadecimal.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static const unsigned char code[] = {
    0x55,                          // push %rbp
    0x48, 0x89, 0xe5,              // mov %rsp, %rbp
    0xb9, 0x40, 0x42, 0x0f, 0x00,  // mov $1000000, %ecx
    0xff, 0xc9,                    // again: dec %ecx
    0x75, 0xfc,                    // jne again
    0x5d,                          // pop %rbp
    0xc3,                          // ret
};

int main(void) {
  void* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memcpy(memory, code, sizeof(code));
  if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0) return 1;
  printf("%lx %lx\n", (unsigned long)(uintptr_t)memory, (unsigned long)sizeof(code));
  fflush(stdout);
  void (*run)(void) = NULL;
  memcpy(&run, &memory, sizeof(run));
  for (;;) {
    run();
    __asm__ volatile("");
  }
}
