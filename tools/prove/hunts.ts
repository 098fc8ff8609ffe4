import type { Hunt } from './hunt.ts';

/** Every hunt: what it looks for, and where it stands. They read the environment, so they are loaded late. */
export const hunts = {
  access: {
    about: 'who may do what, and fields that are not the caller’s to write',
    load: async (): Promise<Hunt> => (await import('./access.ts')).huntAccess,
  },
  fuzz: {
    about: 'requests of every kind and none: no 5xx, no answer unlike docs/openapi.json',
    load: async (): Promise<Hunt> => (await import('./fuzz.ts')).huntInput,
  },
  model: {
    about: 'random stories against a model of the registry, and callers who meet',
    load: async (): Promise<Hunt> => (await import('./model-hunt.ts')).huntModel,
  },
  faults: {
    about: 'stores and providers that throttle, lose, delay and garble, in every story',
    load: async (): Promise<Hunt> => (await import('./faults.ts')).huntFaults,
  },
  nearby: {
    about: 'methods and paths beside the routes, over HTTP: no 5xx, and an answer each time',
    load: async (): Promise<Hunt> => (await import('./nearby.ts')).huntNearby,
  },
  load: {
    about: 'npm start under 64 connections: no error, no leak, and no caller starved',
    load: async (): Promise<Hunt> => (await import('./load.ts')).huntLoad,
  },
} as const;

export type HuntName = keyof typeof hunts;

export function isHuntName(name: string): name is HuntName {
  return Object.hasOwn(hunts, name);
}

export function loadHunt(name: HuntName): Promise<Hunt> {
  return hunts[name].load();
}
