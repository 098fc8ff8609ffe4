import { describe, expect, test } from '@jest/globals';
import { accentProblem, colorTokens, contrast, hueCount, hueTokens } from '../colors.ts';

describe.each(['#4338ca', '#0a6640', '#000000'])('the colors of the accent %s', (accent) => {
  test.each(['light', 'dark'] as const)(
    'can be read in the %s scheme: text 4.5 : 1, edges and sockets 3 : 1',
    (scheme) => {
      const root = colorTokens(accent)[scheme];
      const of = (text: string, ground: string) => contrast(String(root[text]), String(root[ground]));
      const grounds = ['paper', 'sheet', 'raised'];
      const codes = ['code-1', 'code-2', 'code-3', 'code-4'];
      const texts: [string, string[]][] = [
        ...['ink', 'quiet', 'accent', ...codes].map((text): [string, string[]] => [text, grounds]),
        ...['good', 'warn', 'bad'].map((tone): [string, string[]] => [tone, [`${tone}-wash`]]),
        ...[['accent', ['wash']] as [string, string[]], ['on-accent', ['accent']] as [string, string[]]],
      ];
      for (const [text, on] of texts)
        for (const ground of on)
          expect([text, ground, of(text, ground) >= 4.5]).toEqual([text, ground, true]);
      for (const ground of ['sheet', 'raised']) expect(of('field', ground)).toBeGreaterThanOrEqual(3);
      for (let step = 0; step < hueCount; step += 1) {
        const { tile = '', 'tile-ink': ink = '', socket = '' } = hueTokens(step, scheme);
        expect(contrast(tile, ink)).toBeGreaterThanOrEqual(4.5);
        for (const ground of ['sheet', 'raised'])
          expect(contrast(socket, String(root[ground]))).toBeGreaterThanOrEqual(3);
      }
    },
  );
});

test('knows the contrast of WCAG', () => {
  for (const [one, other, ratio] of [
    ['#ffffff', '#000000', 21],
    ['#777777', '#ffffff', 4.48],
    ['#0a0b0c', '#000000', 1.07],
    ['#ff0000', '#0000ff', 2.15],
  ] as const)
    expect([one, contrast(one, other)]).toEqual([one, expect.closeTo(ratio, 2)]);
});

test('rejects an accent that can’t be read, and says its contrast', () => {
  expect(accentProblem('#4338ca')).toBeUndefined();
  expect(accentProblem('#ffcc00')).toMatch(/^be darker: its contrast on the light pages is 1\.\d : 1/);
  expect(accentProblem('blue')).toBe('be a color such as #4338ca');
});
