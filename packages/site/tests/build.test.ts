import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type BuiltFile, buildSite, sitePage } from '../build.ts';

let files: BuiltFile[];

beforeAll(async () => {
  files = await buildSite();
});

const bytesOf = (some: readonly BuiltFile[]) =>
  some.reduce((sum, { content }) => sum + gzipSync(content).length, 0);

describe('the built site', () => {
  /** At 400 kbit/s a second brings 50,000 bytes; connecting takes most of the first. */
  test('needs at most 22,000 bytes for its first page, and 32,000 more for a README', () => {
    const html = Buffer.from(files.find(({ path }) => path === sitePage)?.content ?? '').toString();
    const later = files.filter(({ path }) => /readme/.test(path));
    const first = files.filter((file) => !later.includes(file));

    expect(first.filter(({ path }) => html.includes(`"/${path}"`)).length).toBe(2);
    expect(later).toHaveLength(1);
    expect(bytesOf(first)).toBeLessThan(22_000);
    expect(bytesOf(later)).toBeLessThan(32_000);
  });

  test('keeps files with a hash in their name forever, and the page for a minute', () => {
    const kept = files.filter(({ cacheControl }) => cacheControl.includes('immutable'));

    expect(kept.map(({ path }) => path)).toEqual(
      kept.map(() => expect.stringMatching(/-[A-Z0-9]{8}\.(js|css)$/)),
    );
    expect(files.filter((file) => !kept.includes(file)).map(({ path }) => path)).toEqual([sitePage]);
  });

  test('contains no script or style in its page, and a policy that forbids both', () => {
    const html = Buffer.from(files.find(({ path }) => path === sitePage)?.content ?? '').toString();

    expect(html).not.toMatch(/<style|<script>| style=| on\w+=/);
    expect(html).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
    expect(html).not.toContain('unsafe');
  });
});
