/** Languages that only one script tells, and scripts whose language is not known. */
const tags: [tag: string, letters: RegExp][] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['ko', /\p{Script=Hangul}/gu],
  ['th', /\p{Script=Thai}/gu],
  ['und-Hani', /\p{Script=Han}/gu],
  ['und-Arab', /\p{Script=Arabic}/gu],
  ['und-Hebr', /\p{Script=Hebrew}/gu],
  ['und-Cyrl', /\p{Script=Cyrillic}/gu],
  ['und-Grek', /\p{Script=Greek}/gu],
  ['und-Deva', /\p{Script=Devanagari}/gu],
];
const maxRead = 5000;
const minShare = 0.2;

/** The language of a text by the script of its letters. Undefined for Latin letters, whose language may be any. */
export function scriptLanguage(text: string): string | undefined {
  const start = text.slice(0, maxRead);
  const all = start.match(/\p{L}/gu)?.length ?? 0;
  return tags.find(([, letters]) => (start.match(letters)?.length ?? 0) > all * minShare)?.[0];
}
