import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { documentFile, readViewerScript, renderReferencePage, scriptFile } from './reference-page.ts';

/** Writes the reference page as files for any static host, without addresses or tokens of this machine. */
export async function buildDocs(folder: string): Promise<void> {
  await mkdir(dirname(join(folder, scriptFile)), { recursive: true });
  await writeFile(join(folder, 'index.html'), renderReferencePage());
  await writeFile(join(folder, scriptFile), await readViewerScript());
  await copyFile('docs/openapi.json', join(folder, documentFile));
}

if (import.meta.main) {
  // Not in dist, because a build removes everything there that belongs to no function.
  await buildDocs('.local/docs');
  process.stdout.write('Wrote the API reference into .local/docs/.\n');
}
