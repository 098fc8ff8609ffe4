import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach } from '@jest/globals';

/** Contains the folders of a file's tests, and is removed after the last of them. */
export const directory = await mkdtemp(join(tmpdir(), 'node-registry-folders-'));
/** The folder of the running test. */
export let folder: string;

export async function enter(path?: string): Promise<void> {
  folder = path ?? (await mkdtemp(join(directory, 'folder-')));
}

beforeEach(() => enter());

afterAll(() => rm(directory, { recursive: true }));
