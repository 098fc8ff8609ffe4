import { parse, TomlError } from 'smol-toml';
import { asText, leaveOpen, lookUp, plain, put } from '../values/access.ts';
import {
  addMethods,
  openType,
  dictType,
  floatType,
  intType,
  raise,
  strType,
} from '../values/builtin-types.ts';
import { Bytes, decoded } from '../values/bytes.ts';
import type { Machine } from '../values/machine.ts';
import { Instance, type NativeCall } from '../values/objects.ts';
import { Unknown } from '../values/plain.ts';
import { Dict, type Keywords, List, openDict, type Value } from '../values/values.ts';
import { fromData } from './data.ts';
import { type Models, natives } from './define.ts';
import { readText } from './open-files.ts';
import { absolute, pathText } from './paths.ts';

/** `tomllib` and `configparser`: packs keep settings beside their code. */
export function settingModels(): Models {
  return [
    ...natives('tomllib', {
      loads: (machine, [text]) => parseToml(machine, asText(text)),
      load: (machine, [file = null]) => {
        const bytes = machine.call(machine.attribute(file, 'read'));
        return parseToml(machine, bytes instanceof Bytes ? decoded(bytes) : undefined);
      },
    }),
    ['configparser.ConfigParser', parserType],
    ['configparser.RawConfigParser', parserType],
  ];
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
  const isRaw = keywords.get('interpolation') === null;
  const isPlain = args.length === 0 && keywords.size === (isRaw ? 1 : 0);
  const parser = new Instance(cls, isPlain ? new Dict() : openDict(unread));
  parser.define('isRaw_', isRaw || cls.name.startsWith('Raw'));
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
  const given = parser.own('optionxform');
  if (given !== undefined && given !== strType) return false;
  machine.budget.text(8 * text.length, text.length);
  let options: Dict | undefined;
  for (const line of text.split('\n')) {
    machine.budget.spend();
    const [, name] = /^\[([^\]]+)\]\s*$/.exec(line) ?? [];
    const at = line.search(/[=:]/);
    const written = line.slice(0, at).trim();
    const key = given === strType ? written : written.toLowerCase();
    if (line.trim() === '' || /^\s*[#;]/.test(line)) continue;
    if (name !== undefined && !sectionsOf(parser).entries.has(name))
      options = addSection(machine, parser, name);
    else if (/^[\s[]/.test(line) || at < 1 || !options || options.entries.has(key)) return false;
    else {
      const value = line.slice(at + 1).trim();
      const isMade = value.includes('%') && parser.own('isRaw_') !== true;
      put(machine, options, key, isMade ? new Unknown('an option made of others') : value);
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

const truths = new Map([
  ...['1', 'yes', 'true', 'on'].map((word): [string, boolean] => [word, true]),
  ...['0', 'no', 'false', 'off'].map((word): [string, boolean] => [word, false]),
]);

const kinds: Record<string, (machine: Machine, text: Value) => Value> = {
  get: (_, text) => text,
  getint: (machine, text) => machine.call(intType, [text]),
  getfloat: (machine, text) => machine.call(floatType, [text]),
  getboolean: (_, text) =>
    text instanceof Unknown
      ? text
      : (truths.get(asText(text)?.toLowerCase() ?? '') ?? raise('ValueError', 'Not a boolean')),
};

function got(
  machine: Machine,
  kind: string,
  found: Value | undefined,
  keywords: Keywords,
  fallback?: Value,
): Value {
  const { fallback: named = fallback, ...others } = Object.fromEntries(keywords);
  if (Object.keys(others).length > 0) return new Unknown(unread);
  if (found !== undefined) return kinds[kind]?.(machine, found) ?? null;
  return named === undefined ? raise('Exception', 'No option or section of this name') : named;
}

for (const kind of Object.keys(kinds)) {
  const ofParser: NativeCall = (machine, [self, section = null, name], keywords) => {
    const options = lookUp(machine, sectionsOf(self), section);
    const found =
      options === undefined || options instanceof Unknown ? options : optionOf(machine, options, name);
    return got(machine, kind, found, keywords);
  };
  const ofSection: NativeCall = (machine, [self = null, name, fallback = null], keywords) =>
    got(machine, kind, optionOf(machine, self, name), keywords, fallback);
  addMethods(parserType, { [kind]: ofParser });
  addMethods(sectionType, { [kind]: ofSection });
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
  read_file: (machine, [self, file = null]) =>
    readAll(machine, self, machine.call(machine.attribute(file, 'read'))),
  sections: (machine, [self]) => {
    const names: Value[] = [...machine.iterate(sectionsOf(self))];
    return new List(names.filter((name) => name !== 'DEFAULT'));
  },
  has_section: (machine, [self, name = null]) => has(lookUp(machine, sectionsOf(self), name)),
  has_option: (machine, [self, section = null, name]) => {
    const options = lookUp(machine, sectionsOf(self), section);
    return has(
      options === undefined || options instanceof Unknown ? options : optionOf(machine, options, name),
    );
  },
  options: (machine, [self, section = null]) =>
    machine.call(machine.attribute(lookUp(machine, sectionsOf(self), section) ?? null, 'keys')),
});
addMethods(sectionType, {
  __missing__: (machine, [self = null, name]) => optionOf(machine, self, name) ?? raise('KeyError', 'option'),
  __contains__: (machine, [self = null, name]) => has(optionOf(machine, self, name)),
});
for (const name of 'add_section defaults items optionxform read_dict remove_option remove_section set write'.split(
  ' ',
)) {
  addMethods(parserType, {
    [name]: (machine, [self]) => {
      forget(machine, self);
      return new Unknown(unread);
    },
  });
}

function has(found: Value | undefined): Value {
  return found instanceof Unknown ? new Unknown(unread) : found !== undefined;
}
