import type { Value } from '../values/values.ts';
import { typeModels } from './classes.ts';
import { fileModels } from './files.ts';
import { formatModels } from './formats.ts';
import { functionModels } from './functions.ts';
import { importModels } from './importing.ts';
import { textModels } from './texts.ts';
import { valueModels } from './values.ts';

/** The known parts of Python's library, by dotted name. Values are new for each pack, which may change them. */
export function libraryModels(): ReadonlyMap<string, Value> {
  return new Map([...shared, ...valueModels()]);
}

const shared = [
  ...fileModels,
  ...importModels,
  ...functionModels,
  ...typeModels,
  ...textModels,
  ...formatModels,
];
