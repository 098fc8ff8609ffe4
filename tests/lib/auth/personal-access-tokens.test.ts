import { describe, expect, test } from '@jest/globals';
import {
  createPersonalAccessToken,
  hashPersonalAccessToken,
  isWellFormed,
} from '@node-registry/registry-rules/personal-access-tokens';
import { demo } from '../../../tools/local/demo.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('a personal access token', () => {
  test('uses every character of its alphabet equally often', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 1000; index += 1) {
      for (const character of createPersonalAccessToken().slice(4, 36))
        counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = 32_000 / 62;

    expect(counts.size).toBe(62);
    const shares = [...counts.values()].map((count) => (count - expected) ** 2 / expected);
    expect(shares.reduce((sum, share) => sum + share)).toBeLessThan(140);
  });

  test('stores a personal access token as its SHA-256', () => {
    expect(hashPersonalAccessToken(demo.personalAccessToken)).toBe(
      '198796d21c7800fd9fbb21991d28fdece1f60b7479c7a79f8125c72f53bff10e',
    );
  });

  test.each([
    ['a different prefix', (token: string) => token.replace('nrp_', 'xyz_')],
    ['text before it', (token: string) => ` ${token}`],
    ['text after it', (token: string) => `${token}\n`],
    ['text in the middle', (token: string) => `${token.slice(0, 36)}xx${token.slice(36)}`],
  ])('rejects a personal access token with %s, even if the checksum is right', (_, change) => {
    expect(isWellFormed(change(demo.personalAccessToken))).toBe(false);
  });

  test('rejects a personal access token with any one character mistyped, without a read of the store', () => {
    const token: string = demo.personalAccessToken;
    for (let place = 4; place < token.length; place += 1) {
      for (const character of alphabet) {
        if (character === token[place]) continue;
        const mistyped = token.slice(0, place) + character + token.slice(place + 1);
        expect(isWellFormed(mistyped)).toBe(false);
      }
    }
  });
});
