import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublic, literalOf, localAddresses } from './receiver-address.ts';

/*
 * Callers choose where they are notified, so their URLs must not lead into this account or machine. The name is resolved
 * once, every address is checked, and the connection goes to a checked address.
 */

/** Asks the name servers themselves: the system's own look-ups share four threads, which a few dead names would take. */
export const resolver = new Resolver({ timeout: 1500, tries: 2 });

/** The addresses of a host: empty if it has none, `not public` if one of them isn't. */
export async function findAddresses(url: URL): Promise<LookupAddress[] | 'not public'> {
  const local = localAddresses(url);
  if (local) return local.map(entryOf);
  const literal = literalOf(url);
  const addresses = literal === undefined ? await resolve(url.hostname) : [literal];
  return addresses.every(isPublic) ? addresses.map(entryOf) : 'not public';
}

async function resolve(name: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

function entryOf(address: string): LookupAddress {
  return { address, family: isIP(address) };
}

/** A name may have thousands of addresses, and each would be connected to until one answers. */
const maxPinned = 4;

/** Replaces the lookup, so that the connection goes to the first of these addresses even if the name has changed. */
export function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  const pinned = addresses.slice(0, maxPinned);
  return (_, { all }, callback) => {
    const [first] = pinned;
    if (!first) callback(new Error('The name has no address.'), '');
    else if (all) callback(null, pinned);
    else callback(null, first.address, first.family);
  };
}
