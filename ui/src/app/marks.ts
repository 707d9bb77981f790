// Moments that benchmarks and tests wait for, as entries of the browser's own timeline.
export function mark(name: 'interactive' | 'flame-drawn') {
  performance.mark(`vesta:${name}`);
}
