import * as z from 'zod/mini';
import { maxVersionLength, normalizeVersion } from './version-label.ts';

const stages: Record<string, string> = {
  a: 'alpha',
  alpha: 'alpha',
  b: 'beta',
  beta: 'beta',
  c: 'rc',
  rc: 'rc',
};
const shape = new RegExp(
  String.raw`^v?(?:0+!)?(?<core>\d+(?:\.\d+){0,2})(?:\.(?<fourth>\d+(?:\.\d+)*))?` +
    String.raw`(?:[-_. ]?(?<stage>a|alpha|b|beta|c|rc|pre|preview|dev|post|rev)[-_.]?(?<count>\d+)?)?` +
    String.raw`(?:[-_.]?dev[-_.]?(?<dev>\d+))?(?:\+(?<build>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`,
);

/**
 * The semantic spelling of a version that is nearly one, as Python projects write them: `1.0.0rc1` is `1.0.0-rc.1`,
 * and what comes after a release is build metadata, which makes it a version of its own. Undefined where there is
 * none to propose, as with an epoch, which would be lost.
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
  const proposal = `${threeNumbers(String(core))}${preRelease}${after.length > 0 ? `+${after.join('.')}` : ''}`;
  return normalizeVersion(proposal) === undefined ? undefined : proposal;
}

function threeNumbers(core: string): string {
  const [major = '0', minor = '0', patch = '0'] = core
    .split('.')
    .map((digits) => digits.replace(/^0+(?=\d)/, ''));
  return `${major}.${minor}.${patch}`;
}

/** The problem with a label that is not a semantic version, and its correct spelling if it is close to one. */
export function versionIssue(label: string): string {
  if (label.length > maxVersionLength) return `must have at most ${maxVersionLength} characters`;
  const spelling = semanticSpelling(label);
  const rule = 'must be a semantic version such as 1.2.3 or 2.0.0-beta.1';
  return spelling === undefined ? rule : `${rule}; write ${spelling}`;
}

export const VersionLabel = z
  .pipe(
    z.string().check(z.maxLength(maxVersionLength)),
    z.transform((label, context) => {
      const normal = normalizeVersion(label);
      if (normal !== undefined) return normal;
      context.issues.push({ code: 'custom', input: label, message: versionIssue(label) });
      return z.NEVER;
    }),
  )
  .with(
    z.describe(
      'Version label: a semantic version of at most 64 characters, answered in normal form (v1.2 is 1.2.0). Only a full one may have a pre-release or build part',
    ),
  );
