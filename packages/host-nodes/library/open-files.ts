import { asText } from '../values/access.ts';
import { addMethods, fileType, raise } from '../values/builtin-types.ts';
import { encoded } from '../values/bytes.ts';
import type { Machine } from '../values/machine.ts';
import { Instance } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import { List, type Value } from '../values/values.ts';

/** A file of the pack as text. Unknown if it is outside the pack, or not text. */
export function readText(machine: Machine, path: string): Value {
  const inside = machine.files.inside(path);
  if (inside === undefined) return new Unknown('it depends on other files of the host');
  if (!machine.files.isFile(inside)) return raise('FileNotFoundError', `No such file: '${inside}'`);
  const text = machine.files.read(inside);
  if (text === undefined) return new Unknown('a file that is not text');
  machine.budget.text(text.length);
  return text.replace(/^\uFEFF/, '');
}

/** Keeps files in memory that the pack writes into its own folder. */
export function writeText(machine: Machine, path: string, text: string): void {
  const inside = machine.files.inside(path);
  machine.budget.spend(10);
  if (inside === undefined || inside === '') return;
  payForFolders(machine, inside);
  machine.files.write(inside, text);
}

/** The tree keeps the whole path of each folder. */
export function payForFolders(machine: Machine, path: string): void {
  machine.budget.text(path.length * path.split('/').length, path.length);
}

/** `open(path, mode)`: text has line feeds for all line ends, unless the pack names them. */
export function openFile(machine: Machine, path: string, mode: string, keepsEnds = false): Value {
  const file = new Instance(fileType);
  file.define('name', path);
  file.define('mode', mode);
  if (!/[wax]/.test(mode)) {
    const text = readText(machine, path);
    if (typeof text !== 'string') file.define('text', text);
    else if (mode.includes('b'))
      file.define('text', bytesOf(path, machine.files.read(machine.files.inside(path) ?? '')));
    else file.define('text', keepsEnds ? text : text.replaceAll(/\r\n?/g, '\n'));
  } else file.define('text', '');
  return file;
}

/** Code may be in another encoding. */
function bytesOf(path: string, text = ''): Value {
  return (path.endsWith('.py') ? undefined : encoded(text)) ?? new Unknown('bytes');
}

function textOf(file: Value | undefined): Value {
  return (file instanceof Instance ? file.own('text') : undefined) ?? new Unknown('an unknown file');
}

function lines(machine: Machine, file: Value | undefined): Value {
  const text = textOf(file);
  if (typeof text !== 'string') return text instanceof Unknown ? text : new Unknown('bytes');
  machine.budget.read(text.length);
  const parts = text.split(/(?<=\n)/).filter((line) => line !== '');
  machine.budget.spend(parts.length);
  return new List(parts);
}

function close(machine: Machine, file: Value | undefined): void {
  if (!(file instanceof Instance)) return;
  const [name, mode, text] = [file.own('name'), file.own('mode'), file.own('text')];
  if (typeof name === 'string' && /[wax]/.test(String(mode)) && typeof text === 'string')
    writeText(machine, name, text);
}

addMethods(fileType, {
  read: (_, [self]) => textOf(self),
  readlines: (machine, [self]) => lines(machine, self),
  __iter__: (machine, [self]) => lines(machine, self),
  write: (machine, [self, text]) => {
    const added = asText(text);
    const old = textOf(self);
    if (self instanceof Instance && added !== undefined && typeof old === 'string') {
      machine.budget.text(added.length, old.length + added.length);
      machine.setAttribute(self, 'text', old + added);
    }
  },
  close: (machine, [self]) => {
    close(machine, self);
  },
  __enter__: (_, [self = null]) => self,
  __exit__: (machine, [self]) => {
    close(machine, self);
  },
});
for (const name of ['readline', 'seek', 'truncate', 'writelines']) {
  addMethods(fileType, {
    [name]: (machine, [self = null]) => {
      machine.setAttribute(self, 'text', new Unknown('a part of a file'));
      return new Unknown('a part of a file');
    },
  });
}
