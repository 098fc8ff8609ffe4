import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { folder } from '@node-registry/testing/folders';
import { neededPorts, ports } from '../../tools/local/addresses.ts';
import { lockFolder, writer } from '../../tools/local/data-folder.ts';
import { findFreePort, listen } from '../../tools/processes/ports.ts';

describe('the folder of a local stack', () => {
  test('belongs to one stack at a time', async () => {
    const lock = await lockFolder(folder, { fresh: false });

    await expect(lockFolder(folder, { fresh: true })).rejects.toThrow(
      `The data in ${folder} is in use by another local stack (process ${process.pid}).`,
    );
    await lock.stop();
    await (await lockFolder(folder, { fresh: false })).stop();
    expect(await readdir(folder)).toEqual(['stack.release']);
  });

  test.each([
    ['its id is that of the new one, as after the restart of a container', process.pid, false],
    ['its id is that of another process', process.ppid, false],
    ['another program listens where it did', process.ppid, true],
  ])('becomes free again after a stack was killed, and keeps its data: %s', async (_, pid, isTaken) => {
    const other = createServer((socket) => socket.end('another'));
    const port = isTaken ? await listen(other) : await findFreePort();
    await writeFile(join(folder, 'stack.pid'), JSON.stringify({ pid, port, token: 'lost' }));
    await writeFile(join(folder, 'dynamodb.sqlite'), 'kept');
    await writeFile(join(folder, 'stack.release'), await writer());
    const lock = await lockFolder(folder, { fresh: false });
    const owner = JSON.parse(await readFile(join(folder, 'stack.pid'), 'utf8'));
    await lock.stop();
    other.close();

    expect(owner).toMatchObject({ pid: process.pid, port: expect.any(Number) });
    expect(await readFile(join(folder, 'dynamodb.sqlite'), 'utf8')).toBe('kept');
  });

  test.each([
    ['at a fresh start', writer, true, false],
    ['that another release wrote, and says so', async () => '3.1.0', false, true],
  ])('loses the data %s', async (_, release, fresh, isEmptied) => {
    await writeFile(join(folder, 'dynamodb.sqlite'), '');
    await writeFile(join(folder, 'stack.release'), await release());
    const lock = await lockFolder(folder, { fresh });
    const names = await readdir(folder);
    await lock.stop();

    expect([names.sort(), lock.isEmptied]).toEqual([['stack.pid', 'stack.release'], isEmptied]);
  });
});

test('needs no port of a DynamoDB that runs already, which may listen there', () => {
  const needed = neededPorts(true).map(([part]) => part);

  expect(needed).toEqual(Object.keys(ports).filter((part) => part !== 'dynamodb'));
});
