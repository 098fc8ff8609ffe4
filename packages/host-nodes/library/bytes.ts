import { createHash } from 'node:crypto';
import { asText, plain } from '../values/access.ts';
import { addMethods, openType } from '../values/builtin-types.ts';
import type { Machine } from '../values/machine.ts';
import { Instance, type NativeCall } from '../values/objects.ts';
import { Bytes } from '../values/bytes.ts';
import { Unknown } from '../values/plain.ts';
import type { Keywords, Value } from '../values/values.ts';
import { type Models, natives } from './define.ts';

/** `hashlib` and `base64`: packs make names and addresses with them. */
export function byteModels(): Models {
  const hashes = names.map((name): [string, NativeCall] => [
    name,
    (machine, [data = new Bytes('')]) => {
      const hash = new Instance(hashType);
      hash.define('name', name);
      hash.define('data', added(machine, new Bytes(''), data));
      return hash;
    },
  ]);
  return [
    ...natives('hashlib', Object.fromEntries(hashes)),
    ...natives('base64', {
      b64encode: encode((text) => text),
      urlsafe_b64encode: encode((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
      b64decode: decode((text) => text),
      urlsafe_b64decode: decode((text) => text.replaceAll('-', '+').replaceAll('_', '/')),
    }),
  ];
}

const names = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const;
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
