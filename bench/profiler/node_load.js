// Sorting and strings, until killed.
function round(size) {
  const words = Array.from({ length: size }, (_, i) => ((i * 2654435761) >>> 0).toString(36));
  words.sort();
  return words.join(",").length;
}
let sum = 0;
for (;;) sum += round(20000);
