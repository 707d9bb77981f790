// From one view to another in a short time. Edges move evenly on a scale of magnification, so that zooming far in does not
// rush at the start and creep at the end.
import type { View } from './view';

export const transitionTime = 180; // ms

function ease(t: number): number {
  return t < 0.5 ? 4 * t * t * t : 1 - (-2 * t + 2) ** 3 / 2;
}

// `t` from 0 to 1; exact at both ends.
export function between(from: View, to: View, t: number): View {
  if (t <= 0) return from;
  if (t >= 1) return to;
  const part = ease(t);
  const width = from.width * (to.width / from.width) ** part;
  // Where the width has come on its way is where the left edge is on its own.
  const way = from.width === to.width ? part : (width - from.width) / (to.width - from.width);
  return {
    x: from.x + (to.x - from.x) * way,
    width,
    top: from.top + (to.top - from.top) * part,
  };
}
