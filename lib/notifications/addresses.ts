import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import * as concerns from '../concerns.ts';
import { readEnvironment } from '../environment.ts';

/*
 * Callers choose where they are notified, so an address of theirs must not lead into this account or this machine. The
 * name is resolved once, every address of it is checked, and the connection goes to what was checked.
 *
 * By hand: the packages for this wrap an agent and compare addresses while it connects, and what is left to do is this
 * table, since Node's BlockList does the arithmetic.
 */

/** What the IANA registers as reachable by nobody, by one network only, or as a wrapping of another address. */
const closedRanges: [network: string, bits: number, kind: 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  // Instance metadata, the credentials of containers, and the name server of a VPC among them.
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  // Teredo, ORCHID and the other protocol assignments; documentation; 6to4.
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
];

const closed = new BlockList();
for (const range of closedRanges) closed.addSubnet(...range);

/** Mapped and translated IPv4, unique local, link-local and multicast addresses all lie outside. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether anybody on the internet can have this address. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !closed.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return globalUnicast.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}

const { NOTIFY_LOCALHOST } = readEnvironment(concerns.deliveries);
const localhost: Record<string, LookupAddress[]> = {
  localhost: [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ],
  '127.0.0.1': [{ address: '127.0.0.1', family: 4 }],
  '[::1]': [{ address: '::1', family: 6 }],
};

function isLocal({ hostname }: URL): boolean {
  return NOTIFY_LOCALHOST === 'accepted' && Object.hasOwn(localhost, hostname);
}

const minPort = 1024;

/** The address that a caller gave, unless nothing may be sent there whatever its name resolves to. */
export function readAddress(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '') return undefined;
  const isOpenPort = url.port === '' ? url.protocol === 'https:' : Number(url.port) >= minPort;
  if (!isOpenPort) return undefined;
  if (isLocal(url)) return /^https?:$/.test(url.protocol) ? url : undefined;
  if (url.protocol !== 'https:') return undefined;
  const literal = literalOf(url);
  return literal === undefined || isPublic(literal) ? url : undefined;
}

/** The parser has brought every spelling of a number into the usual one. */
function literalOf({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? undefined : host;
}

/** Asks the name servers themselves: the system's own look-ups share four threads, which a few dead names would take. */
export const resolver = new Resolver({ timeout: 1500, tries: 2 });

/** Where a name leads: no addresses if it has none, and `refused` if one of them is not public. */
export async function findAddresses(url: URL): Promise<LookupAddress[] | 'refused'> {
  const literal = literalOf(url);
  const found = isLocal(url) ? localhost[url.hostname] : undefined;
  const addresses = found ?? (literal === undefined ? await resolve(url.hostname) : [entryOf(literal)]);
  return found || addresses.every(({ address }) => isPublic(address)) ? addresses : 'refused';
}

async function resolve(name: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.map(entryOf) : []));
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
