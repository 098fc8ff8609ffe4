import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublic, literalOf, localAddresses } from './receiver-address.ts';

/*
 * Callers choose where they are notified, so an address of theirs must not lead into this account or this machine. The
 * name is resolved once, every address of it is checked, and the connection goes to what was checked.
 */

/** Asks the name servers themselves: the system's own look-ups share four threads, which a few dead names would take. */
export const resolver = new Resolver({ timeout: 1500, tries: 2 });

/** Where a name leads: no addresses if it has none, and `not public` if one of them is not. */
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

/** In place of a look-up: whatever the name means by now, the connection goes to these addresses, the first few of them. */
export function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  const pinned = addresses.slice(0, maxPinned);
  return (_, { all }, callback) => {
    const [first] = pinned;
    if (!first) callback(new Error('There is no address.'), '');
    else if (all) callback(null, pinned);
    else callback(null, first.address, first.family);
  };
}
