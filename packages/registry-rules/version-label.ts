import * as z from 'zod/mini';

const maxVersionLength = 64;
const identifiers = String.raw`[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*`;
const short = /^[vV]?(\d+)(?:\.(\d+))?$/;
const full = new RegExp(String.raw`^[vV]?(\d+)\.(\d+)\.(\d+)(?:-(${identifiers}))?(?:\+(${identifiers}))?$`);

/**
 * Reads a version label leniently (`v1.2` is `1.2.0`) and returns its normal form, or undefined if it isn't a
 * semantic version. Only a full version may contain more than numbers: `1-2` and `2024-01-01` would become
 * something else than intended. Build metadata is part of the label: `1.0.0+cu118` and `1.0.0+cu121` are two
 * versions.
 */
export function normalizeVersion(label: string): string | undefined {
  const match = label.length <= maxVersionLength ? (full.exec(label) ?? short.exec(label)) : null;
  if (!match) return undefined;
  const [preRelease, build] = match.slice(4);
  const core = [match[1], match[2], match[3]].map((digits = '0') => withoutLeadingZeros(digits)).join('.');
  const identified =
    preRelease === undefined ? core : `${core}-${preRelease.split('.').map(normalizeIdentifier).join('.')}`;
  return build === undefined ? identified : `${identified}+${build}`;
}

/** The label in a path: form encoding turns a `+` into a space. */
export function normalizeVersionInPath(label: string): string | undefined {
  return normalizeVersion(label.replaceAll(' ', '+'));
}

/** Orders two normal forms by precedence, without build metadata: negative if `a` is lower. */
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

const stages: Record<string, string> = { a: 'alpha', b: 'beta', c: 'rc' };
const shape = new RegExp(
  String.raw`^v?(?:0+!)?(?<core>\d+(?:\.\d+){0,2})(?:\.(?<fourth>\d+(?:\.\d+)*))?` +
    String.raw`(?:[-_. ]?(?<stage>a|alpha|b|beta|c|rc|pre|preview|dev|post|rev)[-_.]?(?<count>\d+)?)?` +
    String.raw`(?:[-_.]?dev[-_.]?(?<dev>\d+))?(?:\+(?<build>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`,
);

/**
 * The semantic spelling of a version that is close to one, as Python projects write them: `1.0.0rc1` is
 * `1.0.0-rc.1`, and suffixes after a release become build metadata, which makes a version of its own.
 * Undefined if there is no proposal, for example with an epoch, which would be lost.
 */
export function semanticSpelling(label: string): string | undefined {
  const parts = shape.exec(label.trim().toLowerCase().replaceAll(',', '.'))?.groups;
  if (parts === undefined) return undefined;
  const { core, fourth, stage, count, dev, build } = parts;
  const isAfter = stage === 'post' || stage === 'rev';
  const before = stage === undefined || isAfter ? [] : [stages[stage] ?? stage, count ?? '0'];
  if (dev !== undefined) before.push('dev', dev);
  const after = [fourth, isAfter ? `post.${count ?? '0'}` : undefined, build?.replaceAll('_', '-')].filter(
    (part) => part !== undefined,
  );
  const preRelease = before.length > 0 ? `-${before.join('.')}` : '';
  const numbers = [...String(core).split('.'), '0', '0'].slice(0, 3).join('.');
  return normalizeVersion(`${numbers}${preRelease}${after.length > 0 ? `+${after.join('.')}` : ''}`);
}

/** The problem with a label that is not a semantic version, and the correct spelling of a close one. */
export function versionIssue(label: string): string {
  if (label.length > maxVersionLength) return `must have at most ${maxVersionLength} characters`;
  const spelling = semanticSpelling(label);
  const rule = 'must be a semantic version such as 1.2.3 or 2.0.0-beta.1';
  return spelling === undefined ? rule : `${rule}; write ${spelling}`;
}

/** Two spellings of one normal form are one version, and whoever began it resumes it in the same spelling. */
export const VersionLabel = z
  .pipe(
    z.string().check(z.maxLength(maxVersionLength)),
    z.transform((label, context) => {
      const normal = normalizeVersion(label);
      if (normal !== undefined) return { normal, sent: label };
      context.issues.push({ code: 'custom', input: label, message: versionIssue(label) });
      return z.NEVER;
    }),
  )
  .with(
    z.describe(
      'Version label: a semantic version of at most 64 characters, answered in normal form (v1.2 is 1.2.0). Only a full one may have a pre-release or build part',
    ),
  );
