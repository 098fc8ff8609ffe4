import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify from 'fastify';
import { addReferencePage, referencePath } from '../openapi/reference-page.ts';

/** Writes the reference page as files that any static host can serve, with no address or token of this machine. */
export async function buildDocs(folder: string): Promise<void> {
  const document = await readFile('docs/openapi.json', 'utf8');
  const server = Fastify();
  await addReferencePage(server, { document: JSON.parse(document) });
  const [page, script] = await Promise.all([
    server.inject(referencePath),
    server.inject(`${referencePath}js/scalar.js`),
  ]);
  await mkdir(join(folder, 'js'), { recursive: true });
  await writeFile(join(folder, 'index.html'), page.payload);
  await writeFile(join(folder, 'js', 'scalar.js'), script.payload);
  await writeFile(join(folder, 'openapi.json'), document);
}

if (import.meta.main) {
  await buildDocs('dist/docs');
  process.stdout.write('Wrote the API reference into dist/docs/.\n');
}
