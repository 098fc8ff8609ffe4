import { describe, expect, test } from '@jest/globals';
import { accentProblem, colorStyles, hueCount } from '../colors.ts';

/** The custom properties of each scheme, as the styles have them. */
function read(accent?: string) {
  const styles = colorStyles(accent);
  const half = styles.indexOf('@media');
  const of = (text: string, selector: string) =>
    Object.fromEntries(
      (text.split(`${selector}{`)[1]?.split('}')[0] ?? '').split(';').map((each) => each.slice(2).split(':')),
    ) as Record<string, string>;
  return [styles.slice(0, half), styles.slice(half)].map((text) => ({
    root: of(text, ':root'),
    hues: Array.from({ length: hueCount }, (_, step) => of(text, `.hue-${step}`)),
  }));
}

/** By WCAG 2.2. */
function contrast(...colors: (string | undefined)[]): number {
  const [dark = 0, light = 0] = colors
    .map((color = '') => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
        const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(['#4338ca', '#0a6640', '#000000'])('the colors of the accent %s', (accent) => {
  test.each(read(accent).map((scheme, place) => [['light', 'dark'][place], scheme] as const))(
    'can be read in the %s scheme: text 4.5 : 1, edges and sockets 3 : 1',
    (_, { root, hues }) => {
      const grounds = ['paper', 'sheet', 'raised'];
      const codes = ['code-1', 'code-2', 'code-3', 'code-4'];
      const texts: [string, string[]][] = [
        ...['ink', 'quiet', 'accent', ...codes].map((text): [string, string[]] => [text, grounds]),
        ...['good', 'warn', 'bad'].map((tone): [string, string[]] => [tone, [`${tone}-wash`]]),
        ...[['accent', ['wash']] as [string, string[]], ['on-accent', ['accent']] as [string, string[]]],
      ];
      for (const [text, on] of texts)
        for (const ground of on)
          expect([text, ground, contrast(root[text], root[ground]) >= 4.5]).toEqual([text, ground, true]);
      for (const ground of ['sheet', 'raised'])
        expect(contrast(root.field, root[ground])).toBeGreaterThanOrEqual(3);
      for (const { tile, 'tile-ink': ink, socket } of hues) {
        expect(contrast(tile, ink)).toBeGreaterThanOrEqual(4.5);
        for (const ground of ['sheet', 'raised'])
          expect(contrast(socket, root[ground])).toBeGreaterThanOrEqual(3);
      }
    },
  );
});

test('rejects an accent that can’t be read, and says its contrast', () => {
  expect(accentProblem('#4338ca')).toBeUndefined();
  expect(accentProblem('#ffcc00')).toMatch(/^be darker: its contrast on the light pages is 1\.\d : 1/);
  expect(accentProblem('blue')).toBe('be a color such as #4338ca');
});
