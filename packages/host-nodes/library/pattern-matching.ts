import type { Node, Pattern } from './pattern-syntax.ts';

/** Where a match and its groups begin and end; undefined for a group that took no part. */
export type Found = ([start: number, end: number] | undefined)[];

interface State {
  text: string;
  groups: Found;
  end: number;
  spend: Spend;
}

type Spend = (steps?: number) => void;
type Step = (at: number, state: State) => boolean;

/** The first match at or after a position; with `whole`, it must end at the end of the text. */
export function find(
  pattern: Pattern,
  text: string,
  from: number,
  spend: Spend,
  { anchored = false, whole = false } = {},
): Found | undefined {
  const end: Step = (at, state) => {
    if (whole && at !== text.length) return false;
    state.end = at;
    return true;
  };
  const run = compile(pattern.root, end, spend);
  for (let start = from; start <= text.length; start += 1) {
    const state: State = { text, groups: [], end: start, spend };
    spend();
    if (run(start, state)) {
      const groups = Array.from({ length: pattern.groups + 1 }, (_, index) => state.groups[index]);
      groups[0] = [start, state.end];
      return groups;
    }
    if (anchored) return undefined;
  }
  return undefined;
}

function compile(node: Node, next: Step, spend: Spend): Step {
  if (node.kind === 'sequence') {
    spend(node.parts.length >> 2);
    return node.parts.reduceRight<Step>((rest, part) => compile(part, rest, spend), next);
  }
  if (node.kind === 'choice') {
    spend(node.ways.length >> 2);
    const ways = node.ways.map((way) => compile(way, next, spend));
    return (at, state) => {
      state.spend();
      return ways.some((way) => way(at, state));
    };
  }
  if (node.kind === 'set') return one(node.test, next);
  if (node.kind === 'repeat')
    return node.body.kind === 'set' ? run(node.body.test, node, next) : repeat(node, next);
  if (node.kind === 'group') return group(node, next);
  if (node.kind === 'at') return (at, state) => isAt(node.place, state.text, at) && next(at, state);
  const inner = compile(node.body, () => true, spend);
  return (at, state) => {
    const start = at - node.behind;
    return (start >= 0 && inner(start, state)) === node.wanted && next(at, state);
  };
}

function one(test: (character: string) => boolean, next: Step): Step {
  return (at, state) => {
    state.spend();
    return at < state.text.length && test(state.text.charAt(at)) && next(at + 1, state);
  };
}

type Repeat = Extract<Node, { kind: 'repeat' }>;

/** One repeated character: a loop, so that long texts don't nest. */
function run(test: (character: string) => boolean, { min, max, lazy }: Repeat, next: Step): Step {
  return (at, state) => {
    const { text, spend } = state;
    const fits = (count: number) => at + count < text.length && test(text.charAt(at + count));
    let count = 0;
    const wanted = lazy ? min : max;
    while (count < wanted && fits(count)) {
      spend();
      count += 1;
    }
    if (count < min) return false;
    for (;;) {
      spend();
      if (next(at + count, state)) return true;
      if (lazy ? count >= max || !fits(count) : count <= min) return false;
      count += lazy ? 1 : -1;
    }
  };
}

function repeat({ body, min, max, lazy }: Repeat, next: Step): Step {
  const turn = (count: number): Step => {
    const again: Step = (at, state) => {
      state.spend();
      if (count >= max) return false;
      // A turn that consumes nothing would loop forever.
      const later: Step = (end, inner) => (end > at || count < min) && turn(count + 1)(end, inner);
      return compile(body, later, state.spend)(at, state);
    };
    return (at, state) => {
      if (count < min) return again(at, state);
      return lazy ? next(at, state) || again(at, state) : again(at, state) || next(at, state);
    };
  };
  return turn(0);
}

function group({ body, index }: Extract<Node, { kind: 'group' }>, next: Step): Step {
  return (at, state) => {
    const before = state.groups[index];
    const close: Step = (end, later) => {
      const outer = later.groups[index];
      later.groups[index] = [at, end];
      if (next(end, later)) return true;
      later.groups[index] = outer;
      return false;
    };
    const inner = compile(body, close, state.spend);
    state.spend();
    if (inner(at, state)) return true;
    state.groups[index] = before;
    return false;
  };
}

function isWord(text: string, at: number): boolean {
  return /[\p{L}\p{N}_]/u.test(text.charAt(at));
}

function isAt(place: Extract<Node, { kind: 'at' }>['place'], text: string, at: number): boolean {
  if (place === 'start') return at === 0;
  if (place === 'end') return at === text.length || (at === text.length - 1 && text[at] === '\n');
  if (place === 'line start') return at === 0 || text[at - 1] === '\n';
  if (place === 'line end') return at === text.length || text[at] === '\n';
  const isEdge = isWord(text, at - 1) !== isWord(text, at);
  return place === 'edge' ? isEdge : !isEdge;
}
