import type { Value } from '../values/values.ts';
import { byteModels } from './bytes.ts';
import { fileModels } from './files.ts';
import { pathModels } from './paths.ts';
import { importModels } from './importing.ts';
import { functionModels } from './functions.ts';
import { typeModels } from './classes.ts';
import { signatureModels } from './signatures.ts';
import { settingModels } from './settings.ts';
import { tableModels } from './tables.ts';
import { textModels } from './texts.ts';
import { valueModels } from './values.ts';

/** The known parts of Python's library, by dotted name. They are new for each pack, which may change them. */
export function libraryModels(): ReadonlyMap<string, Value> {
  return new Map([
    ...valueModels(),
    ...fileModels(),
    ...pathModels(),
    ...importModels(),
    ...functionModels(),
    ...typeModels(),
    ...signatureModels(),
    ...textModels(),
    ...tableModels(),
    ...byteModels(),
    ...settingModels(),
  ]);
}
