import type { Check } from './check.ts';

/** Every check: what it checks, and its module. The modules read the environment, so they are loaded late. */
export const checks = {
  access: {
    about: 'who may do what, and fields that callers must not write',
    load: async (): Promise<Check> => (await import('./access.ts')).checkAccess,
  },
  fuzz: {
    about: 'generated requests: no 5xx, and no answer that docs/openapi.json does not allow',
    load: async (): Promise<Check> => (await import('./fuzz.ts')).checkFuzz,
  },
  model: {
    about: 'random sequences of operations against a model of the registry',
    load: async (): Promise<Check> => (await import('./model-check.ts')).checkModel,
  },
  races: {
    about: 'callers who change the same record at the same time',
    load: async (): Promise<Check> => (await import('./races.ts')).checkRaces,
  },
  faults: {
    about: 'stores and providers that throttle, lose, delay and garble, in every scenario',
    load: async (): Promise<Check> => (await import('./faults.ts')).checkFaults,
  },
  spending: {
    about: 'paid requests while stores and providers fail: no limit is passed, every credit is accounted for',
    load: async (): Promise<Check> => (await import('./spending.ts')).checkSpending,
  },
  notifications: {
    about:
      'what providers say of tasks, repeated, reordered, forged and under faults: no state moves back, and each change arrives',
    load: async (): Promise<Check> => (await import('./notifications.ts')).checkNotifications,
  },
  nearby: {
    about: 'methods and paths close to the routes, over HTTP: always an answer, never a 5xx',
    load: async (): Promise<Check> => (await import('./nearby.ts')).checkNearby,
  },
  load: {
    about: 'npm start under 64 connections: no error, no leak, and a fair share for every caller',
    load: async (): Promise<Check> => (await import('./load.ts')).checkLoad,
  },
} as const;

export type CheckName = keyof typeof checks;

export function isCheckName(name: string): name is CheckName {
  return Object.hasOwn(checks, name);
}
