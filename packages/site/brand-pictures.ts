import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { colorTokens, mixed } from './colors.ts';

/** Where a PNG's palette begins: behind its signature and its header. */
const paletteAt = 33;
const paletteBytes = 300;

/**
 * The site's mark as a PNG: the favicon, or the picture that link previews show. The file's palette is replaced by the
 * stage's colors. Entry 10 * a + b has a ninths of the first host node with its wire, and b of the second, fainter one.
 */
export async function markPicture(name: 'icon' | 'preview', accent?: string): Promise<Buffer> {
  const file = await readFile(new URL(`pages/${name}.png`, import.meta.url));
  const { light } = colorTokens(accent);
  const colors = Array.from({ length: paletteBytes / 3 }, (_, entry) => {
    const share = (Math.floor(entry / 10) + 0.55 * (entry % 10)) / 9;
    return mixed(String(light.accent), String(light.wash), Math.min(share, 1)).slice(1);
  });
  const palette = Buffer.from(`PLTE${Buffer.from(colors.join(''), 'hex').toString('latin1')}`, 'latin1');
  palette.copy(file, paletteAt + 4);
  file.writeUInt32BE(crc32(palette), paletteAt + 4 + palette.length);
  return file;
}
