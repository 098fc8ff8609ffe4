import { describe, expect, test } from '@jest/globals';
import { cleanText } from '../../../lib/providers/provider-text.ts';

const key = 'the-key';
const shownOf = (text: unknown) => cleanText(text, key);

describe('a provider text', () => {
  test.each([[undefined], [null], [7], [{ a: 1 }], [['a']]])(
    'shows no text for %j, which is not text',
    (text) => {
      expect(shownOf(text)).toBe('');
    },
  );

  test.each([
    ['The prompt is too long', 'The prompt is too long'],
    [' on\r\n\r\nthree\tlines ', 'on three lines'],
    ['with\u0000control\u007fcharacters', 'with control characters'],
    ['turned \u202eround\u200b\u2028here', 'turned round here'],
    ['<p>no<br/>markup</p>', 'no markup'],
    ['with an empty <> in it', 'with an empty in it'],
    ['1 < 2 < 3', '1 < 2 < 3'],
    [`key ${key}, and ${key} again`, 'key …, and … again'],
    [`image ${'iVBOR/w+_-0='.repeat(20)}, which is bad`, 'image …, which is bad'],
    [`64 in a row: ${'a'.repeat(64)}`, '64 in a row: …'],
    [`63 in a row: ${'a'.repeat(63)}`, `63 in a row: ${'a'.repeat(63)}`],
  ])('shows text without markup and control characters: %j as %j', (text, shown) => {
    expect(shownOf(text)).toBe(shown);
  });

  test('cuts text with an ellipsis after 300 characters', () => {
    const words = 'a word '.repeat(50);

    expect(shownOf(words.slice(0, 299).concat('x'))).toBe(words.slice(0, 299).concat('x'));
    expect(shownOf(words.slice(0, 299).concat('xy'))).toBe(words.slice(0, 299).concat('…'));
  });

  test('returns valid Unicode even if a text was cut inside a character or arrived malformed', () => {
    expect(shownOf(`${'a word '.repeat(50).slice(0, 298)}🙂🙂`)).toMatch(/\ufffd…$/);
    expect(shownOf('half \ud83d a pair')).toBe('half \ufffd a pair');
  });

  test('reads only 30 000 characters', () => {
    expect(shownOf(`begin${' '.repeat(29_994)}e${'nd'.repeat(9)}`)).toBe('begin e');
  });

  test('never shows a part of the key where the text was cut', () => {
    expect(shownOf(`begin${' '.repeat(29_990)}${key}`)).toBe('begin …');
  });
});
