import { beforeAll } from '@jest/globals';
import { createStores } from './create-stores.ts';

/** Read before a test file points the environment at another server. */
const environment = { ...process.env };

beforeAll(() => createStores(environment));
