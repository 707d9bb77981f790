// The lines of a source file with what they cost, and which of them are hot.
import type { AnswerHeader } from '../../api/types';

export interface SourceAnswer extends AnswerHeader {
  file: string;
  reachable: boolean;
  reason?: string;
  first_line?: number;
  lines?: string[];
  weights: { line: number; self: number; total: number }[]; // line 0: not known
}
export interface SourceLine {
  line: number;
  text: string | undefined;
  self: number;
  total: number;
}

// Every line of the text; without a text those that have a weight.
export function sourceLines(answer: SourceAnswer): SourceLine[] {
  const weights = new Map(answer.weights.filter(({ line }) => line > 0).map((weight) => [weight.line, weight]));
  const of = (line: number, text: string | undefined): SourceLine => {
    const weight = weights.get(line);
    return { line, text, self: weight?.self ?? 0, total: weight?.total ?? 0 };
  };
  if (answer.reachable && answer.lines) {
    const first = answer.first_line ?? 1;
    return answer.lines.map((text, i) => of(first + i, text));
  }
  return [...weights.keys()].sort((a, b) => a - b).map((line) => of(line, undefined));
}

// What the file costs on lines that nobody knows: its binary has no line information there.
export function selfWithoutLine(answer: SourceAnswer): number {
  return answer.weights.reduce((sum, { line, self }) => (line > 0 ? sum : sum + self), 0);
}

// Places (not numbers) of the lines that together make up most of the file: what one wants to see first. In their order.
export function hotPlaces(lines: readonly SourceLine[], share = 0.8, most = 12): number[] {
  const weight = (line: SourceLine) => Math.abs(line.self) || Math.abs(line.total) * 1e-6;
  const places = lines.map((_, place) => place).filter((place) => weight(lines[place]) > 0);
  places.sort((a, b) => weight(lines[b]) - weight(lines[a]));
  const all = places.reduce((sum, place) => sum + weight(lines[place]), 0);
  const hot: number[] = [];
  let sum = 0;
  for (const place of places) {
    if (hot.length === most || sum >= share * all) break;
    sum += weight(lines[place]);
    hot.push(place);
  }
  return hot.sort((a, b) => a - b);
}

// The next hot line after the place, or the one before; round the ends.
export function nextHot(hot: readonly number[], place: number, step: 1 | -1): number {
  if (hot.length === 0) return -1;
  if (step > 0) return hot.find((other) => other > place) ?? hot[0];
  return [...hot].reverse().find((other) => other < place) ?? hot[hot.length - 1];
}

// The address of an editor, from a template such as vscode://file/{file}:{line}. Undefined for templates that would run
// something in this page.
export function editorLink(template: string, file: string, line: number): string | undefined {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(template) || /^(javascript|data|vbscript|blob):/i.test(template)) return undefined;
  return template.replaceAll('{file}', encodeURI(file)).replaceAll('{line}', String(line));
}
