import { BlockList, isIP } from 'node:net';
import * as config from '../config.ts';
import { taskHash } from './records.ts';

/*
 * The caller's URL, and ours, which the provider gets instead. The caller's is checked without a lookup, before a
 * request is paid and again before each try. Packages for this wrap an agent and compare addresses while it
 * connects; Node's BlockList needs only this table.
 */

/** Registered by the IANA as unreachable, reachable from one network only, or wrapping another address. */
const closedRanges: [network: string, bits: number, kind: 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  // Includes instance metadata, the credentials of containers, and the name server of a VPC.
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

/** Mapped and translated IPv4, unique local, link-local and multicast addresses are all outside. */
const globalUnicast: typeof closedRanges = [['2000::', 3, 'ipv6']];

/** Whether the address is reachable on the public internet. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !isWithin(closedRanges, address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return isWithin(globalUnicast, address, 'ipv6') && !isWithin(closedRanges, address, 'ipv6');
}

/** Making a list takes microseconds; making it while a function starts would add 0.5 % to a paid call's start. */
function isWithin(ranges: typeof closedRanges, address: string, family: 'ipv4' | 'ipv6'): boolean {
  const list = new BlockList();
  for (const range of ranges) list.addSubnet(...range);
  return list.check(address, family);
}

const localHosts = ['localhost', '127.0.0.1', '[::1]'];

/** Whether the host is this machine, and that is accepted. */
export function isLocal(hostname: string): boolean {
  return localHosts.includes(hostname) && config.receivers().NOTIFY_LOCALHOST === 'accepted';
}

const minPort = 1024;
/** As many as browsers and proxies support; the URL is stored with every notification. */
const maxLength = 2048;
const maxHostLength = 253;

/** The caller's URL, unless sending there is forbidden for any address that its name resolves to. */
export function readReceiverUrl(text: string): URL | undefined {
  const url = text.length <= maxLength ? URL.parse(text) : null;
  if (url && url.hostname.length > maxHostLength) return undefined;
  if (url?.username !== '' || url.password !== '') return undefined;
  const isOpenPort = url.port === '' ? url.protocol === 'https:' : Number(url.port) >= minPort;
  if (!isOpenPort) return undefined;
  if (isLocal(url.hostname)) return /^https?:$/.test(url.protocol) ? url : undefined;
  if (url.protocol !== 'https:') return undefined;
  // The parser has normalized every spelling of a number.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 || isPublic(host) ? url : undefined;
}

/** The length of a secret's beginning that reveals no secret and doesn't occur by chance. JSON escapes none of its characters. */
const recognizedLength = 12;

/**
 * Replaces our URL with the caller's own, because anyone with its secret can notify as the provider. It
 * changes the text instead of parsed JSON, so numbers keep their digits.
 */
export function replaceOurUrl(text: string, secret: string, address: string | undefined): string {
  const beginning = secret.slice(0, recognizedLength);
  if (!text.includes(beginning)) return text;
  // Error texts are shortened, and may end in the middle of our URL.
  const ours = new RegExp(`(https?(?:(?!https?)[^"\\s<>])*?)?${beginning}[\\w-]*`, 'g');
  // No quotes or backslashes: the URL may be inside JSON at any depth.
  const inside = address?.replace(/["\\\s]/g, encodeURIComponent) ?? '…';
  return text.replace(ours, (_, start?: string) => (start === undefined ? '…' : inside));
}

/** The task's secret, if the text repeats it from the request. It is stored nowhere. */
export function findSecret(text: string, hashed: string): string | undefined {
  for (const [, found = ''] of text.matchAll(/\/([\w-]{43})(?![\w-])/g))
    if (taskHash(found) === hashed) return found;
  return undefined;
}
