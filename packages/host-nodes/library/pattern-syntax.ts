/*
 * Regular expressions come from the pack, so none of them runs natively: one of forty characters can take
 * years. This parses them into a tree, and pattern-matching.ts walks it by steps.
 */

export type Node =
  | { kind: 'set'; test: (character: string) => boolean }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; ways: Node[] }
  | { kind: 'repeat'; body: Node; min: number; max: number; lazy: boolean }
  | { kind: 'group'; body: Node; index: number }
  /** `behind` is how far back it begins. */
  | { kind: 'look'; body: Node; wanted: boolean; behind: number }
  | { kind: 'at'; place: 'start' | 'end' | 'line start' | 'line end' | 'edge' | 'inside' };

export interface Pattern {
  root: Node;
  groups: number;
  names: Map<string, number>;
}

export interface Flags {
  ignoreCase: boolean;
  multiline: boolean;
  dotAll: boolean;
}

/** The pattern uses an unsupported feature. */
export class NotFollowed extends Error {}

const classes: Record<string, (character: string) => boolean> = {
  d: (character) => /\p{Nd}/u.test(character),
  w: (character) => /[\p{L}\p{N}_]/u.test(character),
  s: (character) => /\s/.test(character),
};
const places: Record<string, 'start' | 'end' | 'edge' | 'inside'> = {
  A: 'start',
  Z: 'end',
  b: 'edge',
  B: 'inside',
};
const controls: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  f: '\f',
  v: '\v',
  a: '\x07',
  '0': '\0',
};

export function parsePattern(source: string, flags: Flags): Pattern {
  return new PatternParser(source, flags).parse();
}

/** The number of characters that a lookbehind pattern consumes. */
function widthOf(node: Node): number {
  if (node.kind === 'set') return 1;
  if (node.kind === 'at') return 0;
  if (node.kind !== 'sequence') throw new NotFollowed('a look back of another kind');
  return node.parts.reduce((width, part) => width + widthOf(part), 0);
}

class PatternParser {
  readonly #source: string;
  readonly #flags: Flags;
  #at = 0;
  #groups = 0;
  readonly #names = new Map<string, number>();

  constructor(source: string, flags: Flags) {
    this.#source = source;
    this.#flags = { ...flags };
  }

  parse(): Pattern {
    const inline = /^\(\?([ims]+)\)/.exec(this.#source);
    if (inline) {
      this.#at = inline[0].length;
      this.#flags.ignoreCase ||= inline[0].includes('i');
      this.#flags.multiline ||= inline[0].includes('m');
      this.#flags.dotAll ||= inline[0].includes('s');
    }
    const root = this.#choice();
    if (this.#at < this.#source.length) throw new NotFollowed('unbalanced parenthesis');
    return { root, groups: this.#groups, names: this.#names };
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #next(): string {
    const character = this.#source[this.#at];
    if (character === undefined) throw new NotFollowed('the pattern ends early');
    this.#at += 1;
    return character;
  }

  #choice(): Node {
    const ways = [this.#sequence()];
    while (this.#take('|')) ways.push(this.#sequence());
    return ways.length === 1 && ways[0] ? ways[0] : { kind: 'choice', ways };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#at))) {
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', parts };
  }

  #repeated(body: Node): Node {
    const counted = /^\{(\d{0,4})(,?)(\d{0,4})\}/.exec(this.#source.slice(this.#at, this.#at + 12));
    let [min, max] = [1, 1];
    if (this.#take('*')) [min, max] = [0, Infinity];
    else if (this.#take('+')) [min, max] = [1, Infinity];
    else if (this.#take('?')) [min, max] = [0, 1];
    else if (counted && counted[0] !== '{}') {
      this.#at += counted[0].length;
      min = Number(counted[1] || 0);
      max = counted[2] === '' ? min : counted[3] === '' ? Infinity : Number(counted[3]);
    } else return body;
    const lazy = this.#take('?');
    if (this.#take('+')) throw new NotFollowed('a possessive quantifier');
    return { kind: 'repeat', body, min, max, lazy };
  }

  #atom(): Node {
    const character = this.#next();
    if (character === '(') return this.#group();
    if (character === '[') return { kind: 'set', test: this.#set() };
    if (character === '.') {
      const { dotAll } = this.#flags;
      return { kind: 'set', test: (other) => dotAll || other !== '\n' };
    }
    if (character === '^') return { kind: 'at', place: this.#flags.multiline ? 'line start' : 'start' };
    if (character === '$') return { kind: 'at', place: this.#flags.multiline ? 'line end' : 'end' };
    if (character === '\\') return this.#escape();
    if (/[*+?]/.test(character)) throw new NotFollowed('nothing to repeat');
    return { kind: 'set', test: this.#exactly(character) };
  }

  #group(): Node {
    if (this.#take('?:')) return this.#closed(this.#choice());
    const look = /^\?(<?)([=!])/.exec(this.#source.slice(this.#at, this.#at + 3));
    if (look) {
      this.#at += look[0].length;
      const body = this.#closed(this.#choice());
      return { kind: 'look', body, wanted: look[2] === '=', behind: look[1] ? widthOf(body) : 0 };
    }
    const named = /^\?P<(\w{1,40})>/.exec(this.#source.slice(this.#at, this.#at + 50));
    if (named?.[1]) this.#at += named[0].length;
    else if (this.#source[this.#at] === '?') throw new NotFollowed('a group of another kind');
    this.#groups += 1;
    const index = this.#groups;
    if (named?.[1]) this.#names.set(named[1], index);
    return { kind: 'group', body: this.#closed(this.#choice()), index };
  }

  #closed(body: Node): Node {
    if (!this.#take(')')) throw new NotFollowed('missing ), unterminated subpattern');
    return body;
  }

  #escape(): Node {
    const character = this.#next();
    if (/[1-9]/.test(character)) throw new NotFollowed('a back reference');
    const place = places[character];
    if (place) return { kind: 'at', place };
    return { kind: 'set', test: this.#escaped(character) };
  }

  #escaped(character: string): (other: string) => boolean {
    const known = classes[character];
    if (known) return known;
    const negated = classes[character.toLowerCase()];
    if (negated) return (other) => !negated(other);
    const hex = /^[xu]/.test(character)
      ? /^[0-9a-f]{2,4}/i.exec(this.#source.slice(this.#at, this.#at + (character === 'x' ? 2 : 4)))
      : null;
    if (hex) {
      this.#at += hex[0].length;
      return this.#exactly(String.fromCharCode(Number.parseInt(hex[0], 16)));
    }
    return this.#exactly(controls[character] ?? character);
  }

  #exactly(character: string): (other: string) => boolean {
    if (!this.#flags.ignoreCase) return (other) => other === character;
    const lower = character.toLowerCase();
    return (other) => other.toLowerCase() === lower;
  }

  #set(): (character: string) => boolean {
    const negated = this.#take('^');
    const tests: ((character: string) => boolean)[] = [];
    for (let isFirst = true; isFirst || this.#source[this.#at] !== ']'; isFirst = false) {
      const character = this.#next();
      if (character === '\\') tests.push(this.#escaped(this.#next()));
      else if (this.#source[this.#at] === '-' && !/^-\]/.test(this.#source.slice(this.#at, this.#at + 2))) {
        this.#at += 1;
        const next = this.#next();
        const end = next === '\\' ? this.#next() : next;
        tests.push((other) => other >= character && other <= end);
      } else tests.push(this.#exactly(character));
    }
    this.#at += 1;
    return (character) => tests.some((test) => test(character)) !== negated;
  }
}
