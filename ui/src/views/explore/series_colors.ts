// Colours of stacked series: neighbours differ in lightness as well as in hue. Names stand beside them, always.
const light = [
  '#3b6fb6',
  '#e0a23a',
  '#4f9d8b',
  '#c4615b',
  '#8a78c0',
  '#9aa53f',
  '#5aa7cf',
  '#b8719f',
  '#7f6a56',
  '#6f8f5a',
];
const dark = [
  '#5e93dd',
  '#d8a048',
  '#58b09c',
  '#d97b74',
  '#a492dc',
  '#a9b558',
  '#74bde2',
  '#cf8cb9',
  '#a68c72',
  '#8cae74',
];

export function seriesColor(index: number, rest: boolean, isDark: boolean): string {
  if (rest) return isDark ? '#6b7588' : '#aeb6c3';
  const list = isDark ? dark : light;
  return list[index % list.length];
}
