// One hue from the ground to full strength: the lightness alone says how much. Roots rather than values, so that single
// samples are seen beside a peak.
type Rgb = [number, number, number];
export interface Palette {
  ramp: Rgb[];
  lit: Rgb; // what the search found, at full strength
  text: string;
  line: string;
  cursor: string;
  first: string;
  second: string;
}

export const light: Palette = {
  ramp: [
    [225, 235, 250],
    [146, 186, 240],
    [58, 120, 216],
    [12, 52, 128],
  ],
  lit: [184, 92, 0],
  text: '#4d5768',
  line: '#d3d8e0',
  cursor: '#1a2030',
  first: '#1a2030',
  second: '#b3261e',
};
export const dark: Palette = {
  ramp: [
    [32, 46, 74],
    [44, 84, 150],
    [92, 150, 236],
    [214, 231, 255],
  ],
  lit: [255, 190, 90],
  text: '#a9b4c6',
  line: '#323b4c',
  cursor: '#ffffff',
  first: '#ffffff',
  second: '#ff8f86',
};

function mix(a: Rgb, b: Rgb, part: number): Rgb {
  return [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * part)) as Rgb;
}

export function strength(value: number, most: number): number {
  return most > 0 ? Math.sqrt(Math.min(1, Math.max(0, value / most))) : 0;
}

export function colorAt(palette: Palette, at: number): Rgb {
  const place = Math.min(1, Math.max(0, at)) * (palette.ramp.length - 1);
  const low = Math.min(palette.ramp.length - 2, Math.floor(place));
  return mix(palette.ramp[low], palette.ramp[low + 1], place - low);
}

export function css([red, green, blue]: Rgb, alpha = 1): string {
  return alpha === 1 ? `rgb(${red} ${green} ${blue})` : `rgb(${red} ${green} ${blue} / ${alpha})`;
}

// Values for the legend: even steps of colour, and what they stand for.
export function legendSteps(most: number, count = 5): number[] {
  return Array.from({ length: count }, (_, i) => Math.max(1, Math.round(most * ((i + 1) / count) ** 2)));
}
