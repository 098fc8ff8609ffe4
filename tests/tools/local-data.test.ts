import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ports, neededPorts } from '../../tools/local/addresses.ts';
import { createBucket } from '../../tools/local/bucket.ts';
import { claimFolder } from '../../tools/local/data-folder.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-registry-data-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the folder of a local stack', () => {
  test('belongs to one stack at a time', async () => {
    const claim = await claimFolder(folder, { fresh: false });

    await expect(claimFolder(folder, { fresh: true })).rejects.toThrow(
      `The data in ${folder} is in use by another local stack (process ${process.pid}).`,
    );
    await claim.stop();
    await (await claimFolder(folder, { fresh: false })).stop();
    expect(await readdir(folder)).toEqual([]);
  });

  test('is free again after a stack was killed, and keeps its data', async () => {
    const ended = execFileSync(process.execPath, ['-p', 'process.pid'], { env: {}, encoding: 'utf8' });
    await writeFile(join(folder, 'stack.pid'), ended.trim());
    await writeFile(join(folder, 'kept'), '');
    await claimFolder(folder, { fresh: false });

    expect(await readFile(join(folder, 'stack.pid'), 'utf8')).toBe(String(process.pid));
    expect(await readdir(folder)).toContain('kept');
  });

  test('is emptied by a fresh start', async () => {
    await writeFile(join(folder, 'old'), '');
    await claimFolder(folder, { fresh: true });

    expect(await readdir(folder)).toEqual(['stack.pid']);
  });
});

test('a start needs no port of a store that runs already, which may listen there', () => {
  const needed = neededPorts({ dynamodb: 'http://localhost:8000', s3: undefined }).map(([part]) => part);

  expect(needed).toEqual(Object.keys(ports).filter((part) => part !== 'dynamodb'));
});

test('a bucket is created once in an S3 that somebody else started', async () => {
  const url = String(process.env.AWS_ENDPOINT_URL_S3);
  const name = `given-${process.pid}`;
  await createBucket(url, name);
  await createBucket(url, name);

  expect((await fetch(`${url}/${name}`)).status).not.toBe(404);
  const preflight = await fetch(`${url}/${name}/staging/a.zip`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' },
  });
  expect(preflight.headers.get('access-control-allow-methods')).toBe('PUT');
});
