import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';

/** Holds the folders of a file's tests, and goes with the last of them. */
export let directory: string;
/** The folder of the test that runs. */
export let folder: string;

export async function enter(path?: string): Promise<void> {
  folder = path ?? (await mkdtemp(join(directory, 'folder-')));
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'node-registry-folders-'));
});

beforeEach(() => enter());

afterAll(() => rm(directory, { recursive: true }));
