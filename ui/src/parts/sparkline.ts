// A small curve as an SVG path: from zero at the bottom to the largest value at the top, with gaps where nothing is known.
export function sparklinePath(
  values: readonly (number | null)[],
  width: number,
  height: number,
): { line: string; area: string } {
  let largest = 0;
  for (const value of values) if (value !== null && value > largest) largest = value;
  const step = values.length > 1 ? width / (values.length - 1) : 2 * width;
  // Half the width of the line stays inside at the top and the bottom.
  const top = 1;
  const bottom = height - 1;
  const y = (value: number) => {
    const share = largest > 0 && value > 0 ? value / largest : 0;
    return Math.round((bottom - share * (bottom - top)) * 10) / 10;
  };
  const x = (place: number) => Math.round(Math.min(width, Math.max(0, place * step)) * 10) / 10;
  let line = '';
  let area = '';
  for (let first = 0; first < values.length; first++) {
    if (values[first] === null) continue;
    let end = first;
    while (end < values.length && values[end] !== null) end++;
    // A value with none beside it is a line as long as its step.
    const places = end - first > 1 ? values.slice(first, end).map((_, at) => first + at) : [first - 0.5, first + 0.5];
    const points = places.map((place) => `${x(place)} ${y(values[Math.min(end - 1, Math.ceil(place))]!)}`);
    const part = `M${points.join('L')}`;
    line += part;
    area += `${part}V${height}H${x(places[0])}Z`;
    first = end;
  }
  return { line, area };
}
