import { describe, expect, test } from '@jest/globals';
import { compareVersions, isPreRelease, normalizeVersion } from '@node-registry/registry-rules/version-label';
import { fc } from '@node-registry/testing/properties';
import semver from 'semver';

/** Mostly small, so that versions often differ in their last parts alone. */
const number = fc.oneof(fc.constantFrom('0', '1', '2', '10'), fc.nat({ max: 10 ** 6 }).map(String));
const identifier = fc.oneof(number, fc.stringMatching(/^[a-zA-Z-][0-9a-zA-Z-]{0,2}$/));
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

test('orders versions as the package semver, and counts no build metadata', () => {
  const pair = fc.tuple(version, version, preRelease);
  // Others of the same core differ in their pre-release alone.
  const same = pair.map(([a, _, rest]) => [a, `${a.split('-', 1)}${rest}`] as const);
  const both = fc.oneof(
    pair.map(([a, b]) => [a, b] as const),
    same,
  );
  fc.assert(
    fc.property(both, ([a, b]) => {
      expect(Math.sign(compareVersions(a, `${b}+a-b`))).toBe(semver.compare(a, b));
      expect(isPreRelease(`${a}+a-b`)).toBe(semver.prerelease(a) !== null);
    }),
    { numRuns: 1000 },
  );
});
