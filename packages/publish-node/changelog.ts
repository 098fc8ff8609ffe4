import { normalizeVersion } from '@node-registry/registry-rules/version-label';

const heading = /^(#{1,6})[ \t](.*)/;
const maxLines = 20_000;

/** The part of a change log on a version: below its heading, up to the next one that is not deeper. */
export function sectionOf(text: string, version: string): string | undefined {
  const lines = text.split(/\r?\n/, maxLines);
  const headings = lines.map((line) => heading.exec(line));
  const isMeant = ([, , title = '']: RegExpExecArray) =>
    title.split(/[\s()[\],:]+/).some((word) => normalizeVersion(word) === version);
  const start = headings.findIndex((found) => found !== null && isMeant(found));
  if (start < 0) return undefined;
  const depth = headings[start]?.[1]?.length ?? 0;
  const end = headings.findIndex(
    (found, at) => at > start && found !== null && (found[1]?.length ?? 0) <= depth,
  );
  return (
    lines
      .slice(start + 1, end < 0 ? undefined : end)
      .join('\n')
      .trim() || undefined
  );
}
