// A small curve as an SVG path: from zero at the bottom to the largest value at the top.
export function sparklinePath(
  values: readonly number[],
  width: number,
  height: number,
): { line: string; area: string } {
  if (values.length === 0) return { line: '', area: '' };
  let largest = 0;
  for (const value of values) if (value > largest) largest = value;
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  // Half the width of the line stays inside at the top and the bottom.
  const top = 1;
  const bottom = height - 1;
  const y = (value: number) => {
    const share = largest > 0 && value > 0 ? value / largest : 0;
    return Math.round((bottom - share * (bottom - top)) * 10) / 10;
  };
  const x = (index: number) => Math.round(index * step * 10) / 10;
  const points = values.map((value, index) => `${x(index)} ${y(value)}`);
  if (values.length === 1) points.push(`${width} ${y(values[0])}`);
  const line = `M${points.join('L')}`;
  return { line, area: `${line}V${height}H0Z` };
}
