import { builtinType, dictType } from '../values/builtin-types.ts';
import { Instance, Native } from '../values/objects.ts';
import { Tuple, Unknown } from '../values/plain.ts';
import { List, openDict, type Value } from '../values/values.ts';
import type { Models } from './define.ts';

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
    ['os.name', 'posix'],
    ['platform.system', new Native('system', () => 'Linux')],
    ['typing.TYPE_CHECKING', false],
    ['string.ascii_lowercase', 'abcdefghijklmnopqrstuvwxyz'],
    ['string.ascii_uppercase', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
    ['string.ascii_letters', 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'],
    ['string.digits', '0123456789'],
    ['math.pi', Math.PI],
    ['math.e', Math.E],
    ['math.inf', Infinity],
    ['types.SimpleNamespace', simpleNamespace],
    ['types.MappingProxyType', dictType],
    ['collections.OrderedDict', dictType],
  ];
}

/** An environment variable is unknown, unless the pack itself gives a fallback. */
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
  for (const [name, value] of keywords)
    if (name === '**' && value instanceof Unknown) instance.open = value.why;
    else instance.define(name, value);
  return instance;
};

const version = builtinType('version_info');

function versionInfo(): Instance {
  const info = new Instance(version, new Tuple([3n, 12n, 0n, 'final', 0n]));
  for (const [at, name] of ['major', 'minor', 'micro'].entries())
    info.define(name, [3n, 12n, 0n][at] ?? null);
  return info;
}
