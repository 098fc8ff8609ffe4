import { parse, TomlError } from 'smol-toml';
import { addUnfollowed, asText, dictOf, leaveOpen, lookUp, plain, put } from '../values/access.ts';
import { addMethods, dictType, openType, raise } from '../values/builtin-types.ts';
import { Bytes, decoded, Iterator, Unknown } from '../values/plain.ts';
import { Dict, type Keywords, List, type Machine, openDict, type Value } from '../values/values.ts';
import { Instance, type NativeCall } from '../values/objects.ts';
import { argument, type Models, natives } from './define.ts';
import { absolute, pathText, readText } from './files.ts';
import { dumpJson } from './json-text.ts';
import { createHash } from 'node:crypto';

/** A value of JSON or TOML, whose integers are bigints. */
function fromData(machine: Machine, value: unknown): Value {
  machine.budget.spend();
  if (value === null || value instanceof Unknown) return value;
  if (Array.isArray(value)) return new List(value.map((item) => fromData(machine, item)));
  if (value instanceof Date) return new Unknown('a date');
  if (typeof value !== 'object') return value as Value;
  const dict = new Dict();
  for (const [key, item] of Object.entries(value)) put(machine, dict, key, fromData(machine, item));
  // JavaScript has these first.
  const isMoved = dict.entries.size > 1 && [...dict.entries.keys()].some((key) => /^\d{1,10}$/.test(key));
  if (isMoved) dict.order = 'some of its keys are numbers';
  return dict;
}

function parseJson(machine: Machine, text: Value): Value {
  const content = text instanceof Bytes ? decoded(text) : asText(text);
  if (content === undefined) return new Unknown('a text with an unknown part');
  machine.budget.text(content.length);
  let parsed: unknown;
  try {
    parsed = JSON.parse(content, integers);
  } catch {
    // Python accepts these constants, and a file may begin with a byte order mark.
    if (/^\ufeff|NaN|Infinity/.test(content)) return new Unknown('JSON that only Python reads');
    return raise('JSONDecodeError', 'it is not JSON');
  }
  return fromData(machine, parsed);
}

/** JSON's `1.0` is a float in Python, and an integer has any size. */
function integers(
  this: unknown,
  _key: string,
  value: unknown,
  { source = '' }: { source?: string } = {},
): unknown {
  if (typeof value !== 'number' || /[.eE]/.test(source)) return value;
  return source.length > 1_000 ? new Unknown('a long number') : BigInt(source);
}

/** A longer text would take the parser too long. */
const maxTomlCharacters = 100_000;

function parseToml(machine: Machine, text: string | undefined): Value {
  if (text === undefined || text.length > maxTomlCharacters)
    return new Unknown('a text that is not followed');
  machine.budget.text(8 * text.length, text.length);
  try {
    return fromData(machine, parse(text, { integersAsBigInt: true, maxDepth: 100 }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return raise('ValueError', 'it is not TOML');
  }
}

/** A dict of sections, each a dict of options: open after what is not followed. */
const parserType = openType('ConfigParser', dictType);
const sectionType = openType('SectionProxy', dictType);
const unread = 'settings that are not followed';

parserType.construct = (machine, cls, args, keywords) => {
  const isPlain = args.length === 0 && keywords.size === 0;
  const parser = new Instance(cls, isPlain ? new Dict() : openDict(unread));
  if (isPlain) addSection(machine, parser, 'DEFAULT');
  return parser;
};

function sectionsOf(parser: Value | undefined): Dict {
  const held = plain(parser ?? null);
  return held instanceof Dict ? held : openDict(unread);
}

function addSection(machine: Machine, parser: Value, name: string): Dict {
  const options = new Dict();
  put(machine, sectionsOf(parser), name, new Instance(sectionType, options));
  return options;
}

function forget(machine: Machine, parser: Value | undefined): void {
  leaveOpen(machine, parser ?? null, unread);
  sectionsOf(parser).entries = new Map();
}

function readAll(machine: Machine, parser: Value | undefined, text: Value | undefined): Value {
  const known = asText(text);
  const isRead = parser instanceof Instance && known !== undefined && readLines(machine, parser, known);
  if (!isRead) forget(machine, parser);
  return null;
}

/** Whether all lines are sections, options or comments: not lines that go on, repeated names or defaults. */
function readLines(machine: Machine, parser: Instance, text: string): boolean {
  if (parser.own('optionxform') !== undefined) return false;
  machine.budget.text(8 * text.length, text.length);
  let options: Dict | undefined;
  for (const line of text.split('\n')) {
    machine.budget.spend();
    const [, name] = /^\[([^\]]+)\]\s*$/.exec(line) ?? [];
    const at = line.search(/[=:]/);
    const key = line.slice(0, at).trim().toLowerCase();
    if (line.trim() === '' || /^\s*[#;]/.test(line)) continue;
    if (name !== undefined && !sectionsOf(parser).entries.has(name))
      options = addSection(machine, parser, name);
    else if (/^[\s[]/.test(line) || at < 1 || !options || options.entries.has(key)) return false;
    else {
      const value = line.slice(at + 1).trim();
      put(machine, options, key, value.includes('%') ? new Unknown('an option made of others') : value);
    }
  }
  return true;
}

function optionOf(machine: Machine, options: Value, name: Value | undefined): Value | undefined {
  const key = name ?? null;
  const text = asText(key);
  return (
    lookUp(machine, sectionsOf(options), key) ??
    (text === undefined ? undefined : lookUp(machine, sectionsOf(options), text.toLowerCase()))
  );
}

function inSection(
  machine: Machine,
  parser: Value | undefined,
  section: Value,
  name: Value | undefined,
): Value | undefined {
  const options = lookUp(machine, sectionsOf(parser), section);
  return options === undefined || options instanceof Unknown ? options : optionOf(machine, options, name);
}

function got(found: Value | undefined, keywords: Keywords, fallback?: Value): Value {
  const { fallback: named = fallback, ...others } = Object.fromEntries(keywords);
  if (Object.keys(others).length > 0) return new Unknown(unread);
  if (found !== undefined) return found;
  return named === undefined ? raise('Exception', 'No option or section of this name') : named;
}

addMethods(parserType, {
  /** A file that the archive lacks may be written by people or by the pack. */
  read: (machine, [self, paths = null]) => {
    const places = pathText(paths) === undefined ? [...machine.iterate(paths)] : [paths];
    for (const place of places) {
      const path = absolute(pathText(place) ?? '/');
      const isThere = machine.files.isFile(machine.files.inside(path) ?? '');
      readAll(machine, self, isThere ? readText(machine, path) : undefined);
    }
    return new List(places);
  },
  read_string: (machine, [self, text]) => readAll(machine, self, text),
  sections: (machine, [self]) => {
    const names: Value[] = [...machine.iterate(sectionsOf(self))];
    return new List(names.filter((name) => name !== 'DEFAULT'));
  },
  has_section: (machine, [self, name = null]) => has(lookUp(machine, sectionsOf(self), name)),
  get: (machine, [self, section = null, name], keywords) =>
    got(inSection(machine, self, section, name), keywords),
  has_option: (machine, [self, section = null, name]) => has(inSection(machine, self, section, name)),
  options: (machine, [self, section = null]) =>
    machine.call(machine.attribute(lookUp(machine, sectionsOf(self), section) ?? null, 'keys')),
});
addMethods(sectionType, {
  get: (machine, [self = null, name, fallback = null], keywords) =>
    got(optionOf(machine, self, name), keywords, fallback),
  __missing__: (machine, [self = null, name]) => optionOf(machine, self, name) ?? raise('KeyError', 'option'),
  __contains__: (machine, [self = null, name]) => has(optionOf(machine, self, name)),
});
addUnfollowed(
  parserType,
  'add_section defaults items optionxform read_dict remove_option remove_section read_file set write',
  forget,
);

function has(found: Value | undefined): Value {
  return found instanceof Unknown ? new Unknown(unread) : found !== undefined;
}

/* `csv`: packs keep styles and presets in tables. */

const readerType = openType('DictReader');

function readDicts(machine: Machine, args: Value[], keywords: Keywords): Value {
  const all = read(machine, args[0] ?? null, keywords);
  if (all instanceof Unknown) return all;
  const rows = all.filter((row) => row.length > 0);
  const given = argument(args, keywords, 1, 'fieldnames') ?? null;
  const names = given === null ? (rows.shift() ?? []) : [...machine.iterate(given)];
  machine.budget.spend(names.length * rows.length);
  const dicts = rows.map((row) => {
    const dict = dictOf(
      machine,
      names.map((name, at) => [name, row[at] ?? null]),
    );
    if (row.length > names.length) put(machine, dict, null, new List(row.slice(names.length)));
    return dict;
  });
  const reader = new Instance(readerType, new Iterator(dicts.values()));
  reader.define('fieldnames', new List(names));
  return reader;
}

/** The rows of a file, or of a list of lines, with a delimiter at most. */
function read(machine: Machine, source: Value, keywords: Keywords): string[][] | Unknown {
  const { delimiter = ',', fieldnames: _, newline: __, ...others } = Object.fromEntries(keywords);
  const comma = asText(delimiter);
  if (comma?.length !== 1 || Object.keys(others).length > 0)
    return new Unknown('a table of a kind of its own');
  let text = '';
  for (const line of machine.iterate(source)) {
    const known = asText(line);
    if (known === undefined) return new Unknown('a table with an unknown line');
    machine.budget.text(known.length, text.length + known.length);
    text += known.endsWith('\n') ? known : `${known}\n`;
  }
  machine.budget.spend(text.length >> 2);
  return rowsOf(text.replaceAll('\r\n', '\n'), comma);
}

function rowsOf(text: string, comma: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (isQuoted && letter === '"' && text[at + 1] === '"') {
      cell += letter;
      at += 1;
    } else if (letter === '"' && (isQuoted || cell === '')) isQuoted = !isQuoted;
    else if (isQuoted || (letter !== comma && letter !== '\n')) cell += letter;
    else {
      row.push(cell);
      cell = '';
      if (letter === '\n') {
        rows.push(row.length > 1 || row[0] !== '' ? row : []);
        row = [];
      }
    }
  }
  return rows;
}

/* `hashlib` and `base64`: packs make names and addresses with them. */

const unknown = () => new Unknown('bytes');

const hashType = openType('HASH');
addMethods(hashType, {
  update: (machine, [self, data = null]) => {
    if (self instanceof Instance)
      machine.setAttribute(self, 'data', added(machine, self.own('data') ?? null, data));
  },
  digest: digest('latin1', (text) => new Bytes(text)),
  hexdigest: digest('hex', (text) => text),
});

function added(machine: Machine, old: Value, more: Value): Value {
  if (!(old instanceof Bytes && more instanceof Bytes)) return unknown();
  machine.budget.text(more.text.length, old.text.length + more.text.length);
  return new Bytes(old.text + more.text);
}

function digest(encoding: 'hex' | 'latin1', made: (text: string) => Value): Call {
  return (machine, [self]) => {
    const [name, data] = self instanceof Instance ? [asText(self.own('name')), self.own('data')] : [];
    if (name === undefined || !(data instanceof Bytes)) return unknown();
    machine.budget.text(data.text.length);
    return made(createHash(name).update(data.text, 'latin1').digest().toString(encoding));
  };
}

type Call = (machine: Machine, args: Value[], keywords: Keywords) => Value;

function encode(spelled: (text: string) => string): Call {
  return (machine, [data, ...others]) => {
    if (!(data instanceof Bytes) || others.length > 0) return unknown();
    machine.budget.text(2 * data.text.length);
    return new Bytes(spelled(Buffer.from(data.text, 'latin1').toString('base64')));
  };
}

/** Python raises for some of what is not base64, and skips the rest. */
function decode(spelled: (text: string) => string): Call {
  return (machine, [data = null, ...others], keywords) => {
    const text = data instanceof Bytes ? data.text : asText(plain(data));
    if (text === undefined || others.length + keywords.size > 0) return unknown();
    machine.budget.text(2 * text.length);
    const standard = spelled(text);
    const isWhole = standard.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(standard);
    return isWhole ? new Bytes(Buffer.from(standard, 'base64').toString('latin1')) : unknown();
  };
}

const hashes = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'].map((name): [string, NativeCall] => [
  name,
  (machine, [data = new Bytes('')]) => {
    const hash = new Instance(hashType);
    hash.define('name', name);
    hash.define('data', added(machine, new Bytes(''), data));
    return hash;
  },
]);

export const formatModels: Models = [
  ...natives('json', {
    loads: (machine, [text = null]) => parseJson(machine, text),
    load: (machine, [file = null]) => parseJson(machine, machine.call(machine.attribute(file, 'read'))),
    dumps: (machine, [value = null], keywords) => dumpJson(machine, value, keywords),
    dump: (machine, [value = null, file = null], keywords) =>
      machine.call(machine.attribute(file, 'write'), [dumpJson(machine, value, keywords)]),
  }),
  ...natives('tomllib', {
    loads: (machine, [text]) => parseToml(machine, asText(text)),
    load: (machine, [file = null]) => {
      const bytes = machine.call(machine.attribute(file, 'read'));
      return parseToml(machine, bytes instanceof Bytes ? decoded(bytes) : undefined);
    },
  }),
  ['configparser.ConfigParser', parserType],
  ...natives('csv', {
    reader: (machine, [source = null], keywords) => {
      const rows = read(machine, source, keywords);
      return rows instanceof Unknown ? rows : new Iterator(rows.map((row) => new List(row)).values());
    },
    DictReader: readDicts,
  }),
  ...natives('hashlib', Object.fromEntries(hashes)),
  ...natives('base64', {
    b64encode: encode((text) => text),
    urlsafe_b64encode: encode((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    b64decode: decode((text) => text),
    urlsafe_b64decode: decode((text) => text.replaceAll('-', '+').replaceAll('_', '/')),
  }),
];
