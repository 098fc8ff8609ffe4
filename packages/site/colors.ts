/*
 * The colors of the pages in both schemes, as plain custom properties. Each color that carries a meaning gets
 * the lightness that its contrast needs, so any accent and every hue is readable: 4.5 : 1 for text, 3 : 1 for
 * sockets and the edges of fields.
 */

type Rgb = readonly [number, number, number];
type Scheme = 'light' | 'dark';

export const defaultAccent = '#4338ca';
export const hueCount = 24;

const bases = {
  light: {
    paper: '#fbfbfd',
    sheet: '#ffffff',
    raised: '#f2f4f8',
    ink: '#14181f',
    quiet: '#566070',
    line: '#e3e7ee',
    field: '#7d8795',
    good: '#0a6640',
    warn: '#7a4800',
    bad: '#b42318',
    'on-accent': '#ffffff',
    'code-1': '#8a2166',
    'code-2': '#0a5c48',
    'code-3': '#8a4600',
    'code-4': '#2b4dab',
    shadow: '0 1px 2px rgb(20 24 31 / 6%), 0 4px 16px rgb(20 24 31 / 5%)',
  },
  dark: {
    paper: '#0f1216',
    sheet: '#161a20',
    raised: '#1d222a',
    ink: '#e9edf3',
    quiet: '#9aa6b6',
    line: '#2a313b',
    field: '#76818f',
    good: '#6fdcae',
    warn: '#f3c77c',
    bad: '#ff9c94',
    'on-accent': '#11131f',
    'code-1': '#f0a6d8',
    'code-2': '#84d9c0',
    'code-3': '#f0c088',
    'code-4': '#a3bfff',
    shadow: '0 1px 2px rgb(0 0 0 / 40%), 0 4px 16px rgb(0 0 0 / 20%)',
  },
} as const;

/** Why an accent can't be read on the light pages; undefined if it can. The dark one is made from it. */
export function accentProblem(accent: string): string | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(accent)) return 'be a color such as #4338ca';
  const { light } = colorTokens(accent);
  const ratios = ['paper', 'sheet', 'raised', 'wash'].map((ground) =>
    contrast(accent, String(light[ground])),
  );
  const ratio = Math.min(...ratios, contrast(accent, light['on-accent'] ?? ''));
  if (ratio >= 4.5) return undefined;
  return `be darker: its contrast on the light pages is ${ratio.toFixed(1)} : 1, and text needs 4.5 : 1`;
}

/** Every custom property, by scheme. */
export function colorTokens(accent = defaultAccent): Record<Scheme, Record<string, string>> {
  const of = (scheme: Scheme): Record<string, string> => {
    const base = bases[scheme];
    const own = scheme === 'light' ? accent : readable(accent, base.raised, 7);
    const wash = (tone: string) => mixed(tone, base.sheet, scheme === 'light' ? 0.1 : 0.16);
    return {
      ...base,
      accent: own,
      wash: wash(own),
      'good-wash': wash(base.good),
      'warn-wash': wash(base.warn),
      'bad-wash': wash(base.bad),
    };
  };
  return { light: of('light'), dark: of('dark') };
}

/** What a hue's class sets: a tile with its letter, and a socket. */
export function hueTokens(step: number, scheme: Scheme): Record<string, string> {
  const hue = (step * 360) / hueCount;
  const isLight = scheme === 'light';
  const tile = hex(fromHsl(hue, isLight ? 0.7 : 0.35, isLight ? 0.9 : 0.22));
  const strong = hex(fromHsl(hue, 0.65, isLight ? 0.45 : 0.6));
  return {
    tile,
    'tile-ink': readable(hex(fromHsl(hue, 0.6, isLight ? 0.25 : 0.85)), tile, 4.5),
    socket: readable(strong, bases[scheme].raised, 3),
  };
}

/** The styles that the tokens and hues become. */
export function colorStyles(accent?: string): string {
  const written = (tokens: Record<string, string>) =>
    Object.entries(tokens)
      .map(([name, value]) => `--${name}:${value}`)
      .join(';');
  const of = (scheme: Scheme) => {
    const hues = Array.from({ length: hueCount }, (_, step) => [
      `.hue-${step}`,
      written(hueTokens(step, scheme)),
    ]);
    return [[':root', written(colorTokens(accent)[scheme])], ...hues]
      .map(([selector, values]) => `${selector}{${values}}`)
      .join('');
  };
  return `${of('light')}@media (prefers-color-scheme:dark){${of('dark')}}`;
}

/** The color as it is, or as much lighter or darker as its contrast needs. */
function readable(color: string, ground: string, ratio: number): string {
  const end = luminance(rgb(ground)) > 0.18 ? '#000000' : '#ffffff';
  let found = color;
  for (let share = 0; contrast(found, ground) < ratio && share < 1; share += 0.02)
    found = mixed(end, color, share);
  return found;
}

export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(rgb(one)), luminance(rgb(other))].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** By WCAG 2.2. */
function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function rgb(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function hex(color: readonly number[]): string {
  return `#${color.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
}

export function mixed(one: string, other: string, share: number): string {
  const [a, b] = [rgb(one), rgb(other)];
  return hex(a.map((value, place) => value * share + (b[place] ?? 0) * (1 - share)));
}

function fromHsl(hue: number, saturation: number, lightness: number): number[] {
  const strength = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const at = (offset + hue / 30) % 12;
    return 255 * (lightness - strength * Math.max(-1, Math.min(at - 3, 9 - at, 1)));
  });
}
