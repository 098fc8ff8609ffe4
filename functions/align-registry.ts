// The queue's messages: makes versions, archives and their copies follow bans and moves whose command died
export { alignRegistry as handler } from '../lib/registry/alignment.ts';
