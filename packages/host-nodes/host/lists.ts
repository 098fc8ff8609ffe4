import { Several, Unknown } from '../values/plain.ts';
import { List } from '../values/values.ts';

const why = 'the host fills this list';

/** A list that depends on the installation, such as that of the installed models. */
export function hostList(): List {
  return new List([new Several(why, [new Unknown(why)])]);
}
