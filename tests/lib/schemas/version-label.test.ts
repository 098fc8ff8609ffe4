import { describe, expect, test } from '@jest/globals';
import { compareVersions, isPreRelease, normalizeVersion } from '@node-registry/registry-rules/version-label';
import { fc } from '@node-registry/testing/properties';
import semver from 'semver';

const number = fc.bigInt({ min: 0n, max: 10n ** 6n }).map(String);
const identifier = fc.oneof(number, fc.stringMatching(/^[a-zA-Z-][0-9a-zA-Z-]{0,6}$/));
const preRelease = fc.option(
  fc.array(identifier, { minLength: 1, maxLength: 3 }).map((parts) => `-${parts.join('.')}`),
  { nil: '' },
);
const version = fc
  .tuple(number, number, number, preRelease)
  .map(([a, b, c, rest]) => `${a}.${b}.${c}${rest}`);

describe('normalizeVersion', () => {
  test.each([
    ['1.2.3', '1.2.3'],
    ['v1.2', '1.2.0'],
    ['V2', '2.0.0'],
    ['01.002.0003', '1.2.3'],
    ['1.0.0-alpha.01', '1.0.0-alpha.1'],
    ['1.0.0+build.07', '1.0.0+build.07'],
    ['1.0.0+a-b', '1.0.0+a-b'],
    ['1.0.0--', '1.0.0--'],
  ])('normalizes %s to %s', (label, normal) => {
    expect(normalizeVersion(label)).toBe(normal);
  });

  test.each([
    ...'1.0.0rc1|nightly|1-2|2024-01-01|1.2-rc.1+x|1.0 beta|1.0.0 cu118||1.2.3.4| 1.0.0|1.0.0 |1..0|-1.0.0|1.0.0-|1.0.0-a..b|1.0.0+|1.0.0+a+b|1.0.0+a b|vv1|1.0.0-é|1.0.0\n'.split(
      '|',
    ),
    `1.0.0-${'a'.repeat(59)}`,
    `1-${'a'.repeat(60)}`,
    `1.0.0+${'a'.repeat(59)}`,
    `${'0'.repeat(64)}1`,
  ])('rejects %j', (label) => {
    expect(normalizeVersion(label)).toBeUndefined();
  });

  test('leaves a normal form unchanged', () => {
    fc.assert(
      fc.property(version, (label) => {
        const normal = normalizeVersion(label);
        expect(normal).toBeDefined();
        expect(normalizeVersion(String(normal))).toBe(normal);
      }),
    );
  });
});

describe('compareVersions', () => {
  test('orders as the package semver', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(semver.compare(a, b));
      }),
    );
  });

  test('orders the example of the semantic versioning specification, and every kind of identifier', () => {
    const ordered = [
      ...'1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11'.split(' '),
      ...'1.0.0-rc.1 1.0.0 1.0.1-alpha 1.0.1 1.2.0 1.10.0 2.0.0-1 2.0.0-2 2.0.0-11 2.0.0--'.split(' '),
      ...'2.0.0-10a 2.0.0-2a 2.0.0-B 2.0.0-a 2.0.0-a10 2.0.0-a2 2.0.0'.split(' '),
    ];

    for (const [a, left] of ordered.entries()) {
      expect([left, isPreRelease(left)]).toEqual([left, left.includes('-')]);
      // Build metadata counts for nothing.
      for (const [b, right] of ordered.entries())
        expect([left, right, Math.sign(compareVersions(left, `${right}+a-b`))]).toEqual([
          left,
          right,
          Math.sign(a - b),
        ]);
    }
    expect(isPreRelease('1.0.0+a-b')).toBe(false);
  });
});
