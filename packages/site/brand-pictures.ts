import { crc32, deflateSync } from 'node:zlib';
import { colorTokens, rgb } from './colors.ts';

/* The site's mark as PNGs: the favicon, and the picture that link previews show. */

const samples = 3;

/** The part of the mark at a point: the first host node with its wire, or the second one. */
function partAt(x: number, y: number): 'first' | 'second' | undefined {
  if (inBox(x, y, 2, 6) || onWire(x, y)) return 'first';
  return inBox(x, y, 18, 17) ? 'second' : undefined;
}

function inBox(x: number, y: number, left: number, top: number): boolean {
  const [width, height, radius] = [12, 9, 3];
  const [dx, dy] = [
    Math.max(left + radius - x, x - left - width + radius, 0),
    Math.max(top + radius - y, y - top - height + radius, 0),
  ];
  return dx * dx + dy * dy <= radius * radius;
}

function onWire(x: number, y: number): boolean {
  const half = 1.1;
  if (y <= 13.5 && x >= 17) return Math.abs(Math.hypot(x - 17, y - 13.5) - 3) <= half;
  if (x < 17) return x >= 14 && Math.abs(y - 10.5) <= half;
  return y <= 17 && Math.abs(x - 20) <= half;
}

/** The mark in a picture of this size, as large as `share` of its shorter side. */
export function markPicture(width: number, height: number, share: number, accent?: string): Buffer {
  const { light } = colorTokens(accent);
  const ground = rgb(String(light.wash));
  const first = rgb(String(light.accent));
  const second = first.map((value, place) => value * 0.55 + (ground[place] ?? 0) * 0.45);
  const unit = (Math.min(width, height) * share) / 32;
  const [left, top] = [(width - 32 * unit) / 2, (height - 32 * unit) / 2];
  const bytesOfRow = width * 3 + 1;
  const row = Buffer.from([0, ...Array.from({ length: width }, () => ground).flat()]);
  const rows = Buffer.alloc(height * bytesOfRow);
  for (let y = 0; y < height; y += 1) rows.set(row, y * bytesOfRow);
  for (let y = Math.floor(top); y < top + 32 * unit; y += 1)
    for (let x = Math.floor(left); x < left + 32 * unit; x += 1) {
      const sum = [0, 0, 0];
      for (let sample = 0; sample < samples * samples; sample += 1) {
        const part = partAt(
          (x + ((sample % samples) + 0.5) / samples - left) / unit,
          (y + (Math.floor(sample / samples) + 0.5) / samples - top) / unit,
        );
        const color = part === undefined ? ground : part === 'first' ? first : second;
        for (const channel of [0, 1, 2]) sum[channel] = (sum[channel] ?? 0) + (color[channel] ?? 0);
      }
      const at = y * bytesOfRow + 1 + x * 3;
      for (const channel of [0, 1, 2]) rows[at + channel] = Math.round((sum[channel] ?? 0) / samples ** 2);
    }
  return png(width, height, rows);
}

/** 8 bits for each of red, green and blue; every row begins with the number of its filter, 0. */
function png(width: number, height: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}
