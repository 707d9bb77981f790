// Burns CPU in a function of its own until it is killed.
function mixNumbers(x) {
  for (let i = 0; i < 1000000; ++i) x = (Math.imul(x, 1664525) + 1013904223) | 0;
  return x;
}

function outerLoop() {
  for (let x = 1; ; ) x = mixNumbers(x);
}

outerLoop();
