import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { untilEnd } from './serve.ts';

/** Answers for a name: its addresses, in lists that take turns. An empty list is a name without addresses. */
type Zone = Record<string, string[][]>;

interface NameServer {
  address: string;
  zone: Zone;
  /** The names that were asked for, with the kind of address. */
  asked: string[];
}

const kinds: Record<number, { name: string; family: number }> = {
  1: { name: 'A', family: 4 },
  28: { name: 'AAAA', family: 6 },
};

/** A DNS server on a loopback port, over UDP. Names that are not in its zone do not exist; `silent.` names get no answer. */
export async function startNameServer(): Promise<NameServer> {
  const zone: Zone = {};
  const asked: string[] = [];
  const turns = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    const { name: kind = '', family } = kinds[type] ?? {};
    asked.push(`${kind} ${name}`);
    if (name.startsWith('silent.')) return;
    const turn = turns.get(`${kind} ${name}`) ?? 0;
    turns.set(`${kind} ${name}`, turn + 1);
    const lists = zone[name];
    const list = lists?.[Math.min(turn, lists.length - 1)] ?? [];
    const records = list.filter((entry) => isIP(entry) === family).map((entry) => recordOf(entry, type));
    socket.send(reply(query.subarray(0, end), records, lists === undefined), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  untilEnd({ stop: () => socket.close() });
  return { address: `127.0.0.1:${socket.address().port}`, zone, asked };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(question: Buffer, records: Buffer[], isUnknown: boolean): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (isUnknown ? 3 : 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...records]);
}

function recordOf(address: string, type: number): Buffer {
  const data = type === 1 ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function ipv6Bytes(address: string): Buffer {
  const [, host = ''] = /\[(.+)\]/.exec(new URL(`http://[${address}]`).host) ?? [];
  const [before = '', after] = host.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [left, right] = [groups(before), groups(after ?? '')];
  const middle = Array(after === undefined ? 0 : 8 - left.length - right.length).fill('0');
  return Buffer.from([...left, ...middle, ...right].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
