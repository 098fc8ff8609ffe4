import { builtinType, dictType, objectType } from '../values/builtin-types.ts';
import { Dict, List } from '../values/collections.ts';
import { Instance, Native } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import type { Value } from '../values/values.ts';
import { type Models, natives, pure } from './define.ts';
import { isNumber } from '../values/equality.ts';
import { binary } from '../language/operators.ts';
import { truth } from '../language/truth.ts';

/** Plain values of `sys`, `os`, `math`, `string` and others. */
export function valueModels(): Models {
  return [
    ['sys.path', new List()],
    ['sys.modules', openDict('it comes from outside')],
    ['sys.argv', new List(['main.py'])],
    ['sys.platform', 'linux'],
    ['sys.version', '3.12.0'],
    ['sys.maxsize', (1n << 63n) - 1n],
    ['sys.version_info', versionInfo()],
    ['sys.float_info.max', Number.MAX_VALUE],
    ['os.environ', environment()],
    ['os.getenv', new Native('getenv', (_, [, fallback]) => setting(fallback))],
    ['os.sep', '/'],
    ['os.path.sep', '/'],
    ['os.linesep', '\n'],
    ['os.pathsep', ':'],
    ['os.name', 'posix'],
    ['platform.system', new Native('system', () => 'Linux')],
    ['typing.TYPE_CHECKING', false],
    ['string.ascii_lowercase', 'abcdefghijklmnopqrstuvwxyz'],
    ['string.ascii_uppercase', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
    ['string.ascii_letters', 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'],
    ['string.digits', '0123456789'],
    ['string.punctuation', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
    ['math.pi', Math.PI],
    ['math.e', Math.E],
    ['math.tau', 2 * Math.PI],
    ['math.inf', Infinity],
    ['math.nan', Number.NaN],
    ...natives('math', mathematics),
    ...natives('operator', {
      itemgetter: (_, keys) =>
        new Native('itemgetter', (machine, [value = null]) => {
          const items = keys.map((key) => machine.call(machine.attribute(value, '__getitem__'), [key]));
          return items.length === 1 ? (items[0] ?? null) : new Tuple(items);
        }),
      attrgetter: (_, names) =>
        new Native('attrgetter', (machine, [value = null]) => {
          const items = names.map((name) => machine.attribute(value, String(name)));
          return items.length === 1 ? (items[0] ?? null) : new Tuple(items);
        }),
      or_: (machine, [left = null, right = null]) => binary(machine, 'BitOr', left, right),
      not_: (machine, [value = null]) => {
        const isTrue = truth(machine, value);
        return isTrue === undefined ? new Unknown('an unknown condition') : !isTrue;
      },
    }),
    ['types.SimpleNamespace', simpleNamespace],
    ['types.MappingProxyType', dictType],
    ['collections.OrderedDict', dictType],
    ['collections.UserDict', dictType],
    ['threading.local', objectType],
  ];
}

/** A variable of the environment is unknown, unless the pack itself says what to take without it. */
function setting(fallback: Value = null): Value {
  return fallback === null ? new Unknown('it depends on the environment', 'os.environ') : fallback;
}

const environmentType = builtinType('environ', dictType);
environmentType.define('get', new Native('get', (_, [, , fallback]) => setting(fallback), true));

function environment(): Instance {
  return new Instance(environmentType, openDict('it depends on the environment'));
}

const simpleNamespace = builtinType('SimpleNamespace');
simpleNamespace.construct = (_machine, cls, _args, keywords) => {
  const instance = new Instance(cls);
  for (const [name, value] of keywords) instance.define(name, value);
  return instance;
};

function openDict(why: string): Dict {
  const dict = new Dict();
  dict.open = why;
  return dict;
}

const version = builtinType('version_info');

function versionInfo(): Instance {
  const info = new Instance(version, new Tuple([3n, 12n, 0n, 'final', 0n]));
  info.define('major', 3n);
  info.define('minor', 12n);
  info.define('micro', 0n);
  return info;
}

function onNumber(run: (value: number) => Value) {
  return pure((_, [value = null]) =>
    isNumber(value) ? run(Number(value)) : new Unknown('a number of unknown origin'),
  );
}

function whole(value: number): Value {
  return Number.isFinite(value) ? BigInt(value) : new Unknown('a number of unknown origin');
}

const simple = ['sqrt', 'log2', 'log10', 'exp', 'sin', 'cos', 'tan'] as const;

const mathematics = {
  floor: onNumber((value) => whole(Math.floor(value))),
  ceil: onNumber((value) => whole(Math.ceil(value))),
  trunc: onNumber((value) => whole(Math.trunc(value))),
  ...Object.fromEntries(simple.map((name) => [name, onNumber(Math[name])])),
  log: pure((_, [value = null, base]) =>
    base === undefined ? Math.log(Number(value)) : Math.log(Number(value)) / Math.log(Number(base)),
  ),
  radians: onNumber((value) => (value * Math.PI) / 180),
  degrees: onNumber((value) => (value * 180) / Math.PI),
  fabs: onNumber(Math.abs),
  isnan: onNumber(Number.isNaN),
  isinf: onNumber((value) => Math.abs(value) === Infinity),
  pow: pure((_, [base = null, exponent = null]) => Number(base) ** Number(exponent)),
};
