// The queue's messages: makes versions, archives and their copies follow bans and moves whose command died
import { alignRegistry } from '../lib/registry/alignment.ts';

export const handler = alignRegistry;
