import { lacksConstant } from '../host/packages.ts';
import { bytesType, isRaised, raise, typeOf, typeType } from '../values/builtin-types.ts';
import { removeName, setName } from '../values/access.ts';
import { Bytes, Tuple, Unknown } from '../values/plain.ts';
import { Dict, List, type Machine, Module, type Value } from '../values/values.ts';
import {
  BoundMethod,
  Class,
  Descriptor,
  Func,
  Instance,
  methodOf,
  Native,
  Super,
} from '../values/objects.ts';
import { bind, superAttribute } from './classes.ts';

/** `value.name`, or AttributeError. */
export function attribute(machine: Machine, value: Value, name: string): Value {
  const found = findAttribute(machine, value, name);
  if (found !== undefined) return found;
  return raise('AttributeError', `object has no attribute '${name}'`);
}

/** `value.name`; undefined if it certainly doesn't exist. */
export function findAttribute(machine: Machine, value: Value, name: string): Value | undefined {
  machine.budget.spend();
  machine.budget.read(name.length);
  const ofBytes = value instanceof Bytes ? bytesType.own(name) : undefined;
  if (ofBytes !== undefined) return bind(machine, ofBytes, value, bytesType);
  if (value instanceof Unknown) return outside(machine, value.path, name);
  if (value instanceof Super) return superAttribute(machine, value.after, value.self, name);
  if (value instanceof Module) return unlessRaised(() => machine.modules.attribute(value, name));
  if (value instanceof Class) return classAttribute(machine, value, name);
  if (value instanceof Instance) return unlessRaised(() => instanceAttribute(machine, value, name));
  const isMethod = value instanceof Func || value instanceof BoundMethod || value instanceof Descriptor;
  if (isMethod && name === '__get__')
    return new Native(name, (_, [self = null, owner]) =>
      bind(machine, value, self ?? undefined, owner instanceof Class ? owner : typeOf(self)),
    );
  if (value instanceof BoundMethod && name === '__self__') return value.self;
  if (value instanceof BoundMethod && name === '__func__') return value.func;
  if (value instanceof BoundMethod) return findAttribute(machine, value.func, name);
  if (value instanceof Func) return functionAttribute(value, name);
  if (value instanceof Native && (name === '__name__' || name === '__qualname__')) return value.name;
  if (value instanceof Descriptor) return descriptorAttribute(machine, value, name);
  const type = typeOf(value);
  if (name === '__class__') return type;
  const found = type.find(name);
  return found === undefined ? undefined : bind(machine, found, value, type);
}

/** A pack's code may report a missing attribute. */
function unlessRaised(read: () => Value | undefined): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (isRaised(error, 'AttributeError')) return undefined;
    throw error;
  }
}

function classAttribute(machine: Machine, cls: Class, name: string): Value | undefined {
  const special = classSpecial(cls, name);
  if (special !== undefined) return special;
  const meta = cls.metaclass instanceof Class ? cls.metaclass : typeType;
  const fromMeta = meta === typeType ? undefined : meta.find(name, undefined);
  if (fromMeta instanceof Descriptor && fromMeta.kind === 'property')
    return bind(machine, fromMeta, cls, meta);
  const found = cls.find(name);
  if (found !== undefined) return bind(machine, found, undefined, cls);
  const onMeta = meta.find(name);
  if (onMeta !== undefined) return bind(machine, onMeta, cls, meta);
  const fallback = meta.find('__getattr__');
  if (fallback !== undefined) return machine.call(fallback, [cls, name]);
  if (cls.hasMoreMembers) return new Unknown(`${cls.name}.${name} of the host`);
  return cls.outside === undefined ? undefined : inherited(machine, cls, cls.outside, name);
}

/** An attribute of the only base outside of the pack, if that base is known. */
function inherited(machine: Machine, cls: Class, why: string, name: string): Value | undefined {
  const [base = '', ...others] = cls.basesOutside();
  if ([base, ...others].every((path) => lacksConstant(path, name))) return undefined;
  if (base === '' || others.length > 0) return new Unknown(why);
  const found = outside(machine, base, name);
  return found instanceof Unknown ? new Unknown(why) : bind(machine, found, undefined, cls);
}

function outside(machine: Machine, path: string, name: string): Value {
  return machine.outside(path === '' ? '' : `${path}.${name}`);
}

function classSpecial(cls: Class, name: string): Value | undefined {
  if (name === '__name__') return cls.own('__name__') ?? cls.name;
  if (name === '__qualname__') return cls.own('__qualname__') ?? cls.name;
  if (name === '__class__') return typeOf(cls);
  if (name === '__mro__') return new Tuple(cls.mro);
  if (name === '__bases__') return new Tuple(cls.bases);
  if (name === '__base__') return cls.bases[0] ?? null;
  if (name === '__dict__') return new Dict(cls);
  if (name === '__members__') return cls.find('_member_map_');
  if (name === '__doc__') return cls.own('__doc__') ?? null;
  if (name === '__subclasses__') return new Native(name, () => new List([...cls.derived.items]));
  if (name === '__module__') return cls.own(name) ?? new Unknown('a module outside', `${cls.name}.${name}`);
  return undefined;
}

function instanceAttribute(machine: Machine, instance: Instance, name: string): Value | undefined {
  const { cls } = instance;
  if (name === '__class__') return cls;
  if (name === '__dict__') return new Dict(instance);
  const interceptor = cls.find('__getattribute__');
  if (interceptor instanceof Func) return machine.call(interceptor, [instance, name]);
  const onClass = cls.find(name);
  if (onClass instanceof Descriptor && onClass.kind === 'property')
    return bind(machine, onClass, instance, cls);
  const own = instance.own(name);
  if (own !== undefined) return own;
  if (onClass !== undefined) return bind(machine, onClass, instance, cls);
  const fallback = cls.find('__getattr__');
  if (fallback !== undefined) return machine.call(fallback, [instance, name]);
  if (cls.hasMoreMembers) return new Unknown(`${cls.name}.${name}`);
  return cls.outside === undefined ? undefined : new Unknown(cls.outside);
}

function functionAttribute(func: Func, name: string): Value | undefined {
  const own = func.own(name);
  if (own !== undefined) return own;
  if (name === '__name__' || name === '__qualname__') return func.code.name;
  if (name === '__module__') return func.frame.module.name;
  if (name === '__dict__') return new Dict(func);
  if (name === '__doc__') return null;
  const isOpen = func.isDressed || (name.startsWith('__') && name !== '__wrapped__');
  return isOpen ? new Unknown('a built-in') : undefined;
}

function descriptorAttribute(machine: Machine, descriptor: Descriptor, name: string): Value | undefined {
  if (name === '__func__' || name === 'fget') return descriptor.func;
  if (name === 'setter') {
    return new Native('setter', (_, [setter = null]) => new Descriptor('property', descriptor.func, setter));
  }
  if (name === 'getter' || name === 'deleter') return new Native(name, () => descriptor);
  return findAttribute(machine, descriptor.func, name);
}

export function setAttribute(machine: Machine, target: Value, name: string, value: Value): void {
  machine.budget.spend();
  machine.budget.read(name.length);
  if (target instanceof Unknown) {
    if (target.path !== '' && !target.path.includes('(')) machine.setOutside(`${target.path}.${name}`, value);
    return;
  }
  const onClass = target instanceof Instance ? (target.cls.find(name) ?? null) : null;
  const setter = onClass instanceof Descriptor ? onClass.setter : (methodOf(onClass, '__set__') ?? null);
  const own = methodOf(target, '__setattr__');
  if (setter !== null)
    machine.call(setter, onClass instanceof Descriptor ? [target, value] : [onClass, target, value]);
  else if (own instanceof Func) machine.call(own, [target, name, value]);
  else if (isChangeable(target)) setName(machine.heap, target, name, value);
  else if (target instanceof BoundMethod) setAttribute(machine, target.func, name, value);
  else if (target instanceof Class) raise('TypeError', 'cannot set attributes of a built-in type');
  else raise('AttributeError', `object has no attribute '${name}'`);
}

function isChangeable(value: Value): value is Class | Instance | Module | Func {
  const isBuiltin = value instanceof Class && value.builtin;
  return !isBuiltin && [Class, Instance, Module, Func].some((kind) => value instanceof kind);
}

export function deleteAttribute(machine: Machine, target: Value, name: string): void {
  if (target instanceof Unknown) return;
  if (!isChangeable(target) || !removeName(machine.heap, target, name)) raise('AttributeError', name);
}

/** `object`'s own `__setattr__`, which the pack's version calls at the end. */
export function plainSet(machine: Machine, target: Value, name: Value, value: Value): Value {
  if (isChangeable(target) && typeof name === 'string') setName(machine.heap, target, name, value);
  return null;
}
