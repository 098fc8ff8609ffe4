import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const folder = 'packages/registry-client';
const run = promisify(execFile);

/** What the examples of the client's README take for granted, as a reader would have it. */
const known = `
const currentToken = async (_: AbortSignal) => String(process.env.OWNER);
const tryAgainIn = async (_: number | undefined) => {};
const remember = (..._: string[]) => {};
const accessToken = String(process.env.OWNER);
const button: { onclick?: () => Promise<void> } = {};
const show = (_: string[]) => {};
const kept = new Map<string, string>();
const localStorage = {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, text: string) => void kept.set(name, text),
  removeItem: (name: string) => void kept.delete(name),
};
const image = 'https://example.com/image.png';
const photo = new Blob(['a photo']);
const publicKey = String(process.env.PUBLIC_KEY);
const request = new Request('http://localhost', { method: 'POST', ...JSON.parse(String(process.env.SIGNED)) });
`;
const clicked = '\nawait button.onclick?.();';
const client = `import { createRegistryClient } from '@node-registry/registry-client';
const registry = createRegistryClient({
  baseUrl: 'https://registry.example.com',
  downloadsUrl: 'https://downloads.example.com',
  accessToken: String(process.env.OWNER),
});
`;

/** The code of every example, in the order of the README. */
export async function readExamples(): Promise<string[]> {
  const readme = await readFile(`${folder}/README.md`, 'utf8');
  return [...readme.matchAll(/^```(?:ts|js)\n(.*?)^```$/gms)].map(([, code = '']) => code);
}

interface Surroundings {
  /** Where the example runs, with its files. */
  cwd: string;
  env: NodeJS.ProcessEnv;
  apiUrl: string;
  downloadsUrl: string;
}

/** Runs an example as a program of its own, and returns what it prints. */
export async function runExample(
  code: string,
  { cwd, env, apiUrl, downloadsUrl }: Surroundings,
): Promise<string> {
  const isWithoutClient = /\bregistry\b/.test(code) && !code.includes('createRegistryClient(');
  const contents = (known + (isWithoutClient ? client : '') + code + clicked)
    .replaceAll('https://registry.example.com', apiUrl)
    .replaceAll('https://downloads.example.com', downloadsUrl);
  const outfile = join(cwd, 'example.mjs');
  await build({
    stdin: { contents, loader: 'ts', resolveDir: resolve(folder) },
    alias: { '@node-registry/registry-client': resolve(folder, 'client.ts') },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  return (await run(process.execPath, [outfile], { cwd, env })).stdout;
}
