// What the generated table says of profile types. No other module knows a type by its name.
import { profileTypes } from './profile_types.gen';

// Where nothing is asked for, this is shown: CPU time.
export const mainType = profileTypes[0];

export const shortWords = [...new Set(profileTypes.map(({ word }) => word))].filter((word) => word !== '');

// Words in the order of the table, then all else by name.
export function compareWords(a: string, b: string): number {
  const rank = (word: string) => (shortWords.includes(word) ? shortWords.indexOf(word) : shortWords.length);
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

// What a second of it per second is called; empty where that has no name.
export function rateWord(type: string, unit: string): string {
  return profileTypes.find((row) => row.type === type.toLowerCase() && row.unit === unit)?.rate ?? '';
}
