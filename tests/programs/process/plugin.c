// A library for victim.c to load and unload.
int plugin(int value);
int plugin(int value) {
  return value + 1;
}
