import { beforeAll } from '@jest/globals';
import { createStores } from './create-stores.ts';

/** As it is before a test file looks elsewhere. */
const environment = { ...process.env };

beforeAll(() => createStores(environment));
