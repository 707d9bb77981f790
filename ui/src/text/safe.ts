// Names come from other people's programs: control characters and marks that turn the direction of writing are shown as
// signs, so that a name can neither hide itself nor reorder what stands beside it.

// C0 and C1 controls, soft hyphen, zero-width characters, marks of direction, line separators, byte order mark, tags.
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const words: Record<number, string> = {
  0: 'NUL',
  7: 'BEL',
  8: 'BS',
  9: 'TAB',
  10: 'LF',
  13: 'CR',
  27: 'ESC',
  127: 'DEL',
  173: 'SHY',
  1564: 'ALM',
  8203: 'ZWSP',
  8204: 'ZWNJ',
  8205: 'ZWJ',
  8206: 'LRM',
  8207: 'RLM',
  8234: 'LRE',
  8235: 'RLE',
  8236: 'PDF',
  8237: 'LRO',
  8238: 'RLO',
  8294: 'LRI',
  8295: 'RLI',
  8296: 'FSI',
  8297: 'PDI',
};

function standIn(character: string): string {
  const code = character.charCodeAt(0);
  return `‹${words[code] ?? code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

export function visibleText(text: string): string {
  return text.replace(hidden, standIn);
}

// At most so many characters, the end given up: for places that show a name of any length in one line.
export function clippedText(text: string, most: number): string {
  return visibleText(text.length > most ? `${text.slice(0, most - 1)}…` : text);
}
