/** A larger file isn't source code, and isn't read. */
export const maxTextFileBytes = 1_000_000;
const maxTextBytes = 20_000_000;

/**
 * The files whose text a pack's host nodes can depend on, up to a total size. Python files come first: a pack
 * may have more JSON than fits.
 */
export function textFilesIn(files: readonly { path: string; bytes: number }[]): Set<string> {
  const texts = files.filter(({ path, bytes }) => textFile.test(path) && bytes <= maxTextFileBytes);
  const isCode = ({ path }: { path: string }) => path.endsWith('.py');
  let left = maxTextBytes;
  const chosen = new Set<string>();
  for (const { path, bytes } of [...texts.filter(isCode), ...texts.filter((file) => !isCode(file))]) {
    if (bytes > left) continue;
    left -= bytes;
    chosen.add(path);
  }
  return chosen;
}

const textFile = /\.(?:py|json|toml|txt|ya?ml|md|csv|ini|cfg)$/i;

/**
 * A file's text, in the encoding that Python uses for it: UTF-8 unless one of its first two lines declares
 * another. Undefined if the bytes aren't valid in that encoding, because any text would be a guess.
 */
export function decodeText(path: string, bytes: Uint8Array): string | undefined {
  const declared = path.endsWith('.py') ? declaredEncoding(bytes) : 'utf-8';
  if (/^(?:latin-?1|iso-?8859-?1|l1)$/.test(declared)) return Buffer.from(bytes).toString('latin1');
  try {
    const label = /^(?:utf-?8(?:-sig)?|(?:us-)?ascii)$/.test(declared) ? 'utf-8' : declared;
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function declaredEncoding(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 1_000)).toString('latin1');
  const line = /^(?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#.{0,500}?coding[:=][ \t]*([-\w.]{1,50})/.exec(
    start,
  )?.[1];
  return (line ?? 'utf-8').toLowerCase().replaceAll('_', '-');
}
