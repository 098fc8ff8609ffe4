import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { didYouMean } from '../did-you-mean.ts';
import { secretIn } from '../files/secrets.ts';
import { cpuMsOf } from '../../../tests/support/cpu.ts';

const begin = '-----BEGIN RSA PRIVATE KEY-----';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const [, ...lines] = pem.trimEnd().split('\n');
const key = lines.join('\n');
const cell = (source: string) => JSON.stringify({ cells: [{ source: source.split(/(?<=\n)/) }] }, null, 1);
const found = (text: string) => secretIn('a.txt', Buffer.from(text));

describe('a private key', () => {
  test.each([
    ['alone', `${begin}\n${key}\n`],
    ['on Windows', `${begin}\r\n${key}\r\n`],
    ['a string', JSON.stringify(pem)],
    ['lines of a notebook', cell(`KEY = """${pem}"""\n`)],
    ['a string of a notebook', cell(`KEY = ${JSON.stringify(pem)}\n`)],
    ['a sum of strings', pem.replaceAll('\n', '\\n" +\n    "')],
    ['a list of strings', `[${pem.split('\n').map((text) => `'${text}',\n  `)}].join()`],
    ['a comment', pem.replaceAll(/^/gm, '# ')],
    ['a quoted mail', pem.replaceAll(/^/gm, '> ')],
    ['a string with escapes of Unicode', pem.replaceAll('\n', '\\u000a')],
    ['a URL', encodeURIComponent(pem)],
    ['a form', new URLSearchParams({ pem }).toString()],
    [
      'after its headers',
      `${begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344556677\n\n${key}\n`,
    ],
    ['after a header on its own line', `${begin}\nProc-Type: 4,ENCRYPTED ${key}\n`],
    [
      'in a block of PGP',
      `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\n${key}\n`,
    ],
  ])('finds a private key in %s', (_, text) => {
    expect(found(text)).toBe('holds a private key.');
  });

  test.each([
    ['a mention of the first line', `text.startsWith("${begin}")`],
    [
      'a program after it',
      `${begin}";\n${'const isPrivate = readKeyOfPkcs8File(path, withPassword);\n'.repeat(20)}`,
    ],
    ['an example without a key', `${begin}\n...\n-----END RSA PRIVATE KEY-----`],
  ])('finds no private key in %s', (_, text) => {
    expect(found(text)).toBeUndefined();
  });

  test.each([
    ['many headers on one line', `${begin}\n${'a: b '.repeat(30)}!`],
    ['many headers', `${begin}\n${'a: b c\n'.repeat(100_000)}!`],
    ['a long word', `${begin}\n${'a-'.repeat(500_000)}!`],
    ['long words after many first lines', `${begin}${'a'.repeat(950)}`.repeat(2_000)],
    ['many first lines', `${begin}\na: b `.repeat(20_000)],
  ])('searches %s for a private key without much work', async (_, text) => {
    const work = () => expect(found(text)).toBeUndefined();

    // It takes milliseconds; trying every way to divide the text takes seconds at 30 headers, and doubles with each.
    expect(await cpuMsOf(work)).toBeLessThan(2000);
  });
});

describe('a misspelled word', () => {
  test('proposes a candidate that is similar', () => {
    expect(didYouMean('pubish', ['publish', 'status'])).toBe(' Did you mean "publish"?');
    expect(didYouMean('other', ['publish', 'status'])).toBe('');
  });

  test('proposes nothing without a similar candidate', () => {
    expect(didYouMean('a', [])).toBe('');
  });
});
