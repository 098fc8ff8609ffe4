import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { ZipFile } from './zip.ts';

const kinds = 98;

/** Files like those of real nodes: 15 KB of code and data each, 10 KB packed. */
export function smallFiles(count: number): ZipFile[] {
  const words = Array.from({ length: 3000 }, () => randomBytes(4).toString('hex'));
  const contents = Array.from({ length: kinds }, (_, kind) => {
    const text = Array.from(
      { length: 1030 },
      (_, index) => words[(index * index + kind * 31) % words.length],
    );
    const data = Buffer.concat([Buffer.from(text.join(' ')), randomBytes(6100)]);
    return { data, packed: deflateRawSync(data) };
  });
  return Array.from({ length: count }, (_, index) => ({
    name: `nodes/group-${index % 97}/file-${index}.py`,
    ...contents[index % kinds],
  }));
}
