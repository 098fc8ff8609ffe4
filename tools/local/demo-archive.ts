import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A small node as a zip, which the seed publishes and the tests upload. */
export function demoArchive(version: string): Promise<Buffer> {
  const zip = new ZipFile();
  const mtime = new Date(Date.UTC(2026, 0, 1));
  zip.addBuffer(
    Buffer.from(`VERSION = "${version}"\n\n\ndef load(path):\n    return open(path, "rb").read()\n`),
    'demo_node.py',
    { mtime },
  );
  zip.addBuffer(Buffer.from('# Demo Node\n\nLoads an image.\n'), 'README.md', { mtime });
  zip.end();
  return buffer(zip.outputStream);
}
