// Colours of bars. Made in OKLCH, so that all hues of a theme are equally light and one colour of text can be read on all
// of them: contrast is 4.5 or more, a test holds it.
export interface Swatch {
  fill: string;
  ink: string;
}
export type Rgb = [number, number, number]; // 0..255

export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const angle = (hue * Math.PI) / 180;
  const a = chroma * Math.cos(angle);
  const b = chroma * Math.sin(angle);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const byte = (value: number) => {
    const clipped = Math.max(0, Math.min(1, value));
    return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
  };
  return [byte(linear[0]), byte(linear[1]), byte(linear[2])];
}

export function hex([r, g, b]: Rgb): string {
  return `#${((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1)}`;
}
export function rgbOf(text: string): Rgb {
  const value = Number.parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// WCAG 2
export function contrast(a: Rgb, b: Rgb): number {
  const luminance = (color: Rgb) => {
    const [r, g, b_] = color.map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b_;
  };
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

function mix(a: Rgb, b: Rgb, part: number): Rgb {
  return a.map((value, i) => Math.round(value + (b[i] - value) * part)) as Rgb;
}

export interface Palette {
  ground: string;
  ink: string; // on bars
  // By bucket. `categories` first, then `shares` (self share, low to high), then `changes` (less to more).
  fills: string[];
  faded: string[]; // the same, of what is not looked for
  fadedInk: string;
  match: Swatch;
  line: string; // hatch, borders
  focus: string;
  hover: string;
  less: string; // mark of what is gone
}

export const categoryCount = 12;
export const shareCount = 6;
export const changeCount = 9; // four less, none, four more
export const sharesAt = categoryCount;
export const changesAt = categoryCount + shareCount;
export const bucketCount = changesAt + changeCount;

// Neighbours on the wheel stand on places of which one is even, one odd: they differ in lightness.
export const hues = [255, 45, 135, 345, 15, 165, 195, 285, 75, 225, 315, 105];

function makePalette(dark: boolean): Palette {
  const ground: Rgb = dark ? [18, 22, 31] : [255, 255, 255];
  const fills: Rgb[] = [];
  for (const [i, hue] of hues.entries()) {
    // Two degrees of lightness help those who see few hues.
    const step = i % 2 === 0 ? 0 : 1;
    fills.push(dark ? oklch(0.4 - step * 0.055, 0.075, hue) : oklch(0.84 + step * 0.045, 0.085 - step * 0.02, hue));
  }
  for (let i = 0; i < shareCount; i++) {
    const part = i / (shareCount - 1);
    fills.push(
      dark ? oklch(0.3 + part * 0.17, 0.02 + part * 0.1, 50) : oklch(0.95 - part * 0.2, 0.02 + part * 0.12, 65),
    );
  }
  for (let i = 0; i < changeCount; i++) {
    const change = (i - 4) / 4;
    const size = Math.abs(change);
    const hue = change < 0 ? 250 : 25;
    if (size === 0) fills.push(dark ? oklch(0.33, 0.008, 260) : oklch(0.93, 0.006, 260));
    else
      fills.push(
        dark ? oklch(0.33 + size * 0.13, 0.02 + size * 0.12, hue) : oklch(0.93 - size * 0.21, 0.02 + size * 0.11, hue),
      );
  }
  return {
    ground: hex(ground),
    ink: dark ? '#f2f5fb' : '#151b29',
    fills: fills.map(hex),
    faded: fills.map((fill) => hex(mix(fill, dark ? [30, 36, 48] : [245, 246, 248], 0.78))),
    fadedInk: dark ? '#aab5c7' : '#4d5768',
    match: dark ? { fill: '#f0c23c', ink: '#151b29' } : { fill: '#ffd23f', ink: '#151b29' },
    line: dark ? '#8d99ae' : '#6b7587',
    focus: dark ? '#9cc3ff' : '#1c5fd4',
    hover: dark ? '#ffffff' : '#151b29',
    less: dark ? '#8ab8ff' : '#1d56b8',
  };
}

export const palettes = { light: makePalette(false), dark: makePalette(true) };

// For forced colours: the person's own, all bars alike and told apart by their borders.
export function forcedPalette(): Palette {
  return {
    ground: 'Canvas',
    ink: 'CanvasText',
    fills: new Array(bucketCount).fill('Canvas'),
    faded: new Array(bucketCount).fill('Canvas'),
    fadedInk: 'GrayText',
    match: { fill: 'Highlight', ink: 'HighlightText' },
    line: 'CanvasText',
    focus: 'Highlight',
    hover: 'Highlight',
    less: 'CanvasText',
  };
}

// The same text has the same number in every session.
export function hashText(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 16777619);
  }
  return hash >>> 0;
}
