import { parse, TomlError } from 'smol-toml';
import { asText, leaveOpen, lookUp, plain, put } from '../values/access.ts';
import { addMethods, openType, dictType, raise } from '../values/builtin-types.ts';
import { Bytes, decoded } from '../values/bytes.ts';
import type { Machine } from '../values/machine.ts';
import { Instance } from '../values/objects.ts';
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
for (const name of 'add_section defaults items optionxform read_dict remove_option remove_section read_file set write'.split(
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
