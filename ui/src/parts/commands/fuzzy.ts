// Finds what people mean by a few letters: every word of the question must occur in the text as letters in order.
// Starts of words and letters in a row count more, so that "cl" finds "Copy link" before "Collapse".
export interface Match {
  score: number;
  places: number[]; // indices of the letters found
}

const startsWord = (text: string, at: number) => at === 0 || /[\s\-_./:]/.test(text[at - 1]);

// Best way to find `word` from `from` on; tries every place for the first letter.
function matchWord(word: string, text: string, lower: string): Match | null {
  let best: Match | null = null;
  for (let start = lower.indexOf(word[0]); start >= 0; start = lower.indexOf(word[0], start + 1)) {
    const places = [start];
    let score = startsWord(text, start) ? 8 : 0;
    for (let i = 1; i < word.length; ++i) {
      const after = places[i - 1] + 1;
      let at = lower.indexOf(word[i], after);
      if (at < 0) return best;
      // A start of a word further on beats a letter in the middle of this one.
      if (at !== after) {
        for (let other = at; other >= 0; other = lower.indexOf(word[i], other + 1)) {
          if (!startsWord(text, other)) continue;
          at = other;
          break;
        }
      }
      score += at === after ? 5 : startsWord(text, at) ? 4 : -1;
      places.push(at);
    }
    if (!best || score > best.score) best = { score, places };
  }
  return best;
}

export function fuzzyMatch(question: string, text: string): Match | null {
  const lower = text.toLowerCase();
  const places: number[] = [];
  let score = 0;
  for (const word of question.toLowerCase().split(/\s+/)) {
    if (!word) continue;
    const found = matchWord(word, text, lower);
    if (!found) return null;
    score += found.score;
    places.push(...found.places);
  }
  return { score: score - text.length / 100, places: [...new Set(places)].sort((a, b) => a - b) };
}

// Best first; equals stay in their order.
export function fuzzySort<T>(question: string, list: readonly T[], textOf: (entry: T) => string) {
  return list
    .flatMap((entry) => {
      const match = fuzzyMatch(question, textOf(entry));
      return match ? [{ entry, match }] : [];
    })
    .sort((a, b) => (question.trim() ? b.match.score - a.match.score : 0));
}
