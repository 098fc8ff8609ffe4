import { hash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseObject } from '../../lib/json.ts';
import { listen } from '../processes/ports.ts';

interface Owner {
  pid: number;
  /** The port where the owner answers with the token as long as it runs. */
  port: number;
  token: string;
}

const ownerFile = 'stack.pid';
/** Names what wrote the data. */
const releaseFile = 'stack.release';

/** A stack under load may be silent for long, and another program on its port for ever. */
const maxAnswerMs = 60_000;

/** The release with its table, to which no index can be added, and its form of a bucket. */
export async function writer(): Promise<string> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  const files = ['infra/template/table.yml', 'tools/local/s3-objects.ts'].map((file) =>
    readFile(file, 'utf8'),
  );
  return `${version} ${hash('sha256', (await Promise.all(files)).join('')).slice(0, 16)}`;
}

/**
 * Reserves a data folder for one stack, because two would overwrite each other's database and objects.
 * Resolves with the function that frees it. A killed stack leaves a process id behind, which another process
 * may have by now, or this one: after the restart of a container all ids are the same again.
 */
export async function lockFolder(directory: string, { fresh }: { fresh: boolean }) {
  const pid = await runningStack(directory);
  if (pid !== undefined)
    throw new Error(
      `The data in ${directory} is in use by another local stack (process ${pid}). Stop it, or set LOCAL_DIRECTORY to another folder.`,
    );
  const file = join(directory, releaseFile);
  const [release, writtenBy] = [await writer(), await readFile(file, 'utf8').catch(() => undefined)];
  const isKept = !fresh && writtenBy === release;
  await rm(isKept ? join(directory, ownerFile) : directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const { stop } = await hold(join(directory, ownerFile));
  await writeFile(file, release);
  /** The folder had data that this release can't read, which are gone. */
  const isEmptied = writtenBy !== undefined && writtenBy !== release;
  return { stop, isEmptied };
}

/** The process of the stack that uses a data folder. */
export async function runningStack(directory: string): Promise<number | undefined> {
  const content = await readFile(join(directory, ownerFile), 'utf8').catch(() => '');
  const owner = parseObject(content) as Owner | undefined;
  return owner && (await isRunning(owner)) ? owner.pid : undefined;
}

async function hold(file: string) {
  const token = randomUUID();
  const server = createServer((socket) => socket.on('error', () => {}).end(token)).unref();
  const owner: Owner = { pid: process.pid, port: await listen(server), token };
  const stop = async () => {
    server.close();
    await rm(file, { force: true });
  };
  // If two start at the same time, one of them fails here.
  await writeFile(file, JSON.stringify(owner), { flag: 'wx' }).catch((error: Error) => {
    server.close();
    throw error;
  });
  return { stop };
}

/** Another program may listen on the port of a killed stack. */
async function isRunning({ port, token }: Owner): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, signal: AbortSignal.timeout(maxAnswerMs) });
  return (await text(socket).catch(() => '')) === token;
}
