import * as z from 'zod/mini';

const maxLength = 64;
const numbers = String.raw`(\d+)(?:\.(\d+))?(?:\.(\d+))?`;
const identifiers = String.raw`[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*`;
const shape = new RegExp(String.raw`^[vV]?${numbers}(?:-(${identifiers}))?(?:\+(${identifiers}))?$`);

/**
 * Reads a version label leniently (`v1.2` is `1.2.0`) and returns its normal form, or undefined if it is
 * not a semantic version. Build metadata is part of it: `1.0.0+cu118` and `1.0.0+cu121` are two versions. A blank
 * counts as `+`, which a form-encoded path or a careless client makes of it.
 */
export function normalizeVersion(label: string): string | undefined {
  const match = label.length <= maxLength ? shape.exec(label.replaceAll(' ', '+')) : null;
  if (!match) return undefined;
  const [preRelease, build] = match.slice(4);
  const core = match
    .slice(1, 4)
    .map((digits = '0') => withoutLeadingZeros(digits))
    .join('.');
  const identified =
    preRelease === undefined ? core : `${core}-${preRelease.split('.').map(normalizeIdentifier).join('.')}`;
  const normal = build === undefined ? identified : `${identified}+${build}`;
  // A short label can grow (`1-x` is `1.0.0-x`), and what is answered must itself be a label that is found.
  return normal.length <= maxLength ? normal : undefined;
}

/** Orders two normal forms by precedence, which build metadata has no part in: negative where `a` is lower. */
export function compareVersions(a: string, b: string): number {
  const [coreA, preReleaseA] = splitOnce(withoutBuild(a));
  const [coreB, preReleaseB] = splitOnce(withoutBuild(b));
  const byCore = compareLists(coreA.split('.'), coreB.split('.'));
  if (byCore !== 0 || preReleaseA === preReleaseB) return byCore;
  if (preReleaseA === undefined) return 1;
  if (preReleaseB === undefined) return -1;
  return compareLists(preReleaseA.split('.'), preReleaseB.split('.'));
}

export function isPreRelease(version: string): boolean {
  return withoutBuild(version).includes('-');
}

export const VersionLabel = z
  .pipe(
    z.string().check(z.maxLength(maxLength)),
    z.transform((label, context) => {
      const normal = normalizeVersion(label);
      if (normal !== undefined) return normal;
      context.issues.push({
        code: 'custom',
        input: label,
        message: 'must be a semantic version such as 1.2.3 or 2.0.0-beta.1',
      });
      return z.NEVER;
    }),
  )
  .with(z.describe('Version label: a semantic version of at most 64 characters; answered in normal form'));

function withoutBuild(version: string): string {
  return version.replace(/\+.*/, '');
}

function splitOnce(version: string): [string, string | undefined] {
  const hyphen = version.indexOf('-');
  return hyphen < 0 ? [version, undefined] : [version.slice(0, hyphen), version.slice(hyphen + 1)];
}

function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

function normalizeIdentifier(identifier: string): string {
  return isNumber(identifier) ? withoutLeadingZeros(identifier) : identifier;
}

function isNumber(identifier: string): boolean {
  return /^\d+$/.test(identifier);
}

function compareLists(a: string[], b: string[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1;
    const order = compareIdentifiers(left, right);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers compare as numbers of any length and come before words; words compare by character code. */
function compareIdentifiers(a: string, b: string): number {
  const [numberA, numberB] = [isNumber(a), isNumber(b)];
  if (numberA !== numberB) return numberA ? -1 : 1;
  if (numberA && a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
