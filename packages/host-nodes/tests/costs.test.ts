import { expect, test } from '@jest/globals';
import { extract } from './packs.ts';

const size = 4_000;
/** One of each kind of value, as large as the others: `size` items or characters. */
const setup = `
import outside, collections, copy, dataclasses, fnmatch, functools, inspect, os, re
n = ${size}
l = list(range(n))
texts = tuple(str(i) for i in l)
t = tuple(l)
d = {name: 1 for name in texts}
s, other = set(l), set(l)
maybe = {name: 1 for name in texts}
maybe.pop(outside.f(), 1)
opened = list(l)
outside.f(opened)
x = "a" * n
y = "a" * n
b = "a".encode() * n
c = "a".encode() * n
file = open(os.path.dirname(__file__) + "/file")
class A: pass
Many = type("Many", (), d)
class Fields: __annotations__ = d
Row = collections.namedtuple("Row", texts)
partial = functools.partial(min, *l)
named = functools.partial(dict, **d)
`;

const steps = (code: string) => extract({ '__init__.py': `${setup}${code}`, file: 'a'.repeat(size) }).steps;
const before = steps('pass');

test.each([
  ...['d | outside.f()', 'd | {}', '{} | d', 'd.pop(outside.f(), 1)', 'if maybe: pass', 'len(maybe)'],
  ...['d == dict(d)', 's <= other', 's == other', 's | other', 'str(s)', 'str(l)'],
  ...['len(l)', 'bool(opened) or list(enumerate(opened))', 'l[-1]', 'l[n - 1]', 'l[5:6]', 'l[0] = 1'],
  ...['l[0:1] = [2]', 'del l[0]', 'l == [*l, 1]', 'l < l', 'l + []', 'l * 1', 'l.remove(0)', 'n in l'],
  ...['l.insert(0, 0)', 'l[:]', 'l.copy()', 'l.count(0)', 'l.reverse()', 'l.sort()', 'sorted(t)'],
  ...['[] if outside.f() else l', 'l if outside.f() else []', 'match l:\n    case [first, *rest]: pass'],
  ...['[i for i in l]', 'outside.f(l)', 'min(*l)', 'dict(**d)', 'partial()', 'named()', 'copy.copy(d)'],
  ...['{t: 1}', 'frozenset(l)', '"".format_map(d)', '"".join(texts)', '"a".startswith(texts)', 'Row()'],
  ...['eval("1", d)', 'dataclasses.dataclass(Fields)', 'inspect.getmembers(Many)', 'copy.deepcopy(l)'],
  ...['x == y', 'x in [y]', '{y: 1}', '{b: 1}', 'getattr(A, y, 1)', 'setattr(A, y, 1)', 'x + y', 'x * 1'],
  ...['b == c', 'b[0]', 'b[5:6]', 'list(b)', 'b"b" in b', 'b.decode()', 'str(b, "utf8")', 'x[0]'],
  ...['"b" in x', 'int(y)', 'float(y)', 'x.upper()', '"".strip(y)', '"a".find(y)', 'f"{x:.1}"', '"%1s" % x'],
  ...['re.escape(x)', 're.sub("b", "a", x)', 're.sub("a", "\\\\1" * n, "a")', 'fnmatch.fnmatch("a", x)'],
  ...['os.path.normpath(x)', 'os.path.join("a", x)', 'file.readlines()', 'inspect.cleandoc(x)'],
])('spends a step for at most 32 items or characters: %s', (code) => {
  expect(steps(code) - before).toBeGreaterThanOrEqual(size / 32);
});
