/** The commands that a reader of a Markdown text copies: the `sh` blocks below one heading, in order. */
export function commandsBelow(markdown: string, heading: string): string[] {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const lines = markdown.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = endOfSection(rest, level);
  const section = rest.slice(0, end).join('\n');
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands);
}

/** A `#` inside a block of code is a comment, not a heading. */
function endOfSection(lines: readonly string[], level: number): number {
  let isCode = false;
  const index = lines.findIndex((line) => {
    if (line.startsWith('```')) isCode = !isCode;
    const marks = isCode ? undefined : /^#+(?= )/.exec(line)?.[0].length;
    return marks !== undefined && marks <= level;
  });
  return index < 0 ? lines.length : index;
}
