import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import net, { type AddressInfo, isIP } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { fc } from '@node-registry/testing/properties';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { stopTimers } from '@node-registry/testing/clock';
import { deliverOnce, resolver } from '../../../lib/notifications/deliver-once.ts';
import { isPublic, readReceiverUrl } from '../../../lib/notifications/notification-urls.ts';
import { readSigningKeys } from '../../../lib/notifications/signature.ts';
import { httpRequest } from '../../../lib/outgoing/http-request.ts';
import { peer, trustPeer } from '../../support/tls-peer.ts';
import { setVariables } from '../../support/variables.ts';

/*
 * Every hostile address leads, in some spelling, to this machine, into a private network or nowhere. That none of them is
 * connected to is seen below the HTTP client, where connections begin; and most of them name a port of this machine that
 * a server listens to.
 */

/** The addresses of each name; null for one whose servers do not answer. */
const zone: Record<string, string[] | null> = {};
/** What the name servers were asked. */
const asked: string[] = [];
const answerOf = (family: number) => async (name: string) => {
  asked.push(`${name} ${family}`);
  const addresses = zone[name];
  if (addresses === null) await new Promise(() => {});
  if (!addresses) throw new Error('not found');
  return addresses.filter((address) => isIP(address) === family);
};
Object.assign(resolver, { resolve4: answerOf(4), resolve6: answerOf(6) });

const keys = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));
const receiver = createServer((_, response) => response.end('taken'));
const serverNames: string[] = [];
const tlsReceiver = createTlsServer({
  ...peer,
  SNICallback: (name, callback) => {
    serverNames.push(name);
    callback(null);
  },
});
trustPeer();
await Promise.all([
  once(receiver.listen(0, '127.0.0.1'), 'listening'),
  once(tlsReceiver.listen(0), 'listening'),
]);
const { port } = receiver.address() as AddressInfo;

beforeEach(() => {
  asked.length = 0;
});

afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
  tlsReceiver.close();
});

const began: string[] = [];
/** Every TCP connection that this process begins, below anything that could hide one: `TCPCONNECTWRAP` is libuv's own. */
const hook = createHook({
  init(_, type, __, resource: { address?: string; port?: number }) {
    if (type === 'TCPCONNECTWRAP') began.push(`${resource.address} ${resource.port}`);
  },
});

/** Where `work` began a connection to, as address and port. */
async function connectionsOf(work: () => Promise<unknown>): Promise<string[]> {
  began.length = 0;
  hook.enable();
  await work().finally(() => hook.disable());
  return [...began];
}

/** What becomes of one try, and the connections that it began. */
async function send(address: string) {
  const body = '{"state":"success"}';
  let result: unknown;
  const connections = await connectionsOf(async () => {
    result = await deliverOnce({ id: 'msg_1', address, body }, keys);
  });
  return { result, connections };
}

const failed = (error: string) => ({ result: { outcome: 'failed', error }, connections: [] });
const rejected = {
  result: { outcome: 'failed', error: 'address_rejected', isHopeless: true },
  connections: [],
};

/** This machine, its network and its metadata, in the spellings that some parser takes. */
const hosts = [
  ...'127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 0177.0.0.01 017700000001 127.0.0.1.'.split(
    ' ',
  ),
  ...'%31%32%37.0.0.1 １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 0 0x0 4294967295 167772161 0300.0250.0.1'.split(
    ' ',
  ),
  ...'169.254.169.254 2852039166 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 169.254.43518 169.16689662'.split(
    ' ',
  ),
  ...'[::1] [0:0:0:0:0:0:0:1] [::] [fe80::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:10.0.0.1]'.split(
    ' ',
  ),
];

describe('a try', () => {
  // The local stack has addresses of its own.
  beforeEach(() => setVariables({ NOTIFY_LOCALHOST: 'rejected' }));

  test.each(hosts)('never connects to https://%s', async (host) => {
    expect(await send(`https://${host}:${port}/hook`)).toEqual(rejected);
  });

  test.each([
    ...`http://example.com/hook http://localhost:${port}/ http://127.0.0.1:${port}/ ftp://example.com/`.split(
      ' ',
    ),
    // Users and hosts that look like one
    ...`https://user@example.com:${port}/ https://user:secret@example.com/ https://:secret@example.com/`.split(
      ' ',
    ),
    `https://example.com@127.0.0.1:${port}/`,
    ...[0, 22, 25, 80, 1023, 99_999].map((number) => `https://example.com:${number}/`),
    ...'file:///etc/passwd gopher://127.0.0.1:6379/_INFO data:text/plain,hello wss://example.com/'.split(' '),
    ...`javascript:alert(1) example.com/hook https:/// https://[fe80::1%25lo]:${port}/ https://1.2.3.4.5/`.split(
      ' ',
    ),
    ...['https://256.256.256.256/', '', `https://caller.example.com/${'a'.repeat(2022)}`],
    `https://${'a.'.repeat(124)}example/`,
  ])('neither connects to %j nor looks it up', async (address) => {
    expect(await send(address)).toEqual(rejected);
    expect(asked).toEqual([]);
  });

  test.each([
    '127.0.0.1',
    '::1',
    // One of several
    '93.184.216.34 127.0.0.1',
    '127.0.0.1 93.184.216.34',
    `${[34, 35, 36, 37, 38].map((last) => `93.184.216.${last}`).join(' ')} 127.0.0.1`,
    '93.184.216.34 ::1',
    '2606:2800:220:1::1 192.168.1.1',
  ])('never connects to a name that leads to %s', async (leads) => {
    zone['leads-there.example'] = leads.split(' ');

    expect(await send(`https://leads-there.example:${port}/hook`)).toEqual(failed('name_rejected'));
  });

  test.each([
    ...'localhost localhost. app.localhost internal metadata.google.internal no-such.example'.split(' '),
    // To the parser a backslash ends the host.
    'example.com\\@127.0.0.1',
  ])(
    'asks only the name servers for a name that is %s, and no file or list of this machine',
    async (name) => {
      expect(await send(`https://${name}:${port}/`)).toEqual(failed('name_not_found'));
      expect(asked).toHaveLength(2);
    },
  );

  test.each([
    ['its connection', 'slow.example.com', ['93.184.216.34', '2606:2800:220:1::1']],
    ['the name servers', 'silent.example', null],
  ])('has three seconds, including the only lookup of its name, if %s hangs', async (_, name, addresses) => {
    zone[name] = addresses;
    const connect = jest.spyOn(net.Socket.prototype, 'connect');
    // Nothing leaves this machine.
    if (addresses) connect.mockReturnThis();
    stopTimers();
    const sent = send(`https://${name}/`);
    jest.advanceTimersByTime(2999);
    expect(jest.getTimerCount()).toBe(2);
    jest.advanceTimersByTime(1);

    expect(await sent).toEqual(failed('timed_out'));
    const { lookup } = Object(connect.mock.calls.flat(2)[0]);
    const found = addresses && (await promisify(lookup)(name, { all: true }));
    expect(found).toEqual(addresses?.map((address) => ({ address, family: isIP(address) })) ?? null);
  });
});

describe('a connection', () => {
  test('offers and checks the name of the address over TLS, not the number that was looked up', async () => {
    const request = httpRequest({
      url: new URL(`https://receiver.example:${(tlsReceiver.address() as AddressInfo).port}/`),
      method: 'GET',
      timeoutMs: 60_000,
      maxReplyBytes: 100,
      lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    });

    // The certificate of this receiver is for 127.0.0.1, where the connection goes, but not for its name.
    await expect(request).rejects.toMatchObject({
      sent: false,
      cause: expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    });
    expect(serverNames).toEqual(['receiver.example']);
  });
});

test('knows the addresses that anyone may have, at the edges of all others', () => {
  const open = [
    ...'1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1'.split(' '),
    ...'169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255'.split(' '),
    ...'192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2001:200::1 2001:db7:ffff::1'.split(' '),
    ...'2001:db9::1 2003::1 2606:4700::1111 3ffe::1 3fff:1000::1'.split(' '),
  ];
  const closed = [
    ...'0.1.2.3 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.2 127.255.255.255'.split(' '),
    ...'169.254.0.0 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.1'.split(' '),
    ...'192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1'.split(
      ' ',
    ),
    ...'224.0.0.0 239.255.255.250 240.0.0.1 255.255.255.255 febf::1 fc00::1 fd00:ec2::254 fec0::1'.split(' '),
    ...'ff02::1 100::1 5f00::1 2001:: 2001:1ff::1 2001:10::1 2001:20::1 2001:db8::1 3fff::1 3fff:fff::'.split(
      ' ',
    ),
    // IPv4 inside IPv6: compatible, translated, NAT64, 6to4, Teredo
    ...'::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b:1::a00:1 2002:7f00:1::'.split(' '),
    ...'2001:0:4136:e378:8000:63bf:3fff:fdd2 example.com 1.1.1 1.1.1.1.1 2606:4700::1111%eth0 :::'.split(' '),
    '',
  ];

  expect([...open, ...closed].filter(isPublic)).toEqual(open);
});

test('takes no address for public that the package ipaddr.js does not', () => {
  const v4 = fc.ipV4();
  const addresses = fc.oneof(
    v4,
    fc.ipV6(),
    v4.map((address) => `::ffff:${address}`),
  );
  fc.assert(
    fc.property(addresses, (address) => {
      expect(isPublic(address) && ipaddr.process(address).range() !== 'unicast').toBe(false);
    }),
    { numRuns: 3000 },
  );
});

describe('a URL of a receiver', () => {
  test.each([
    'https://caller.example.com:8443/hook',
    `https://caller.example.com/${'a'.repeat(2021)}`,
    'https://93.184.216.34/hook',
    'https://[2606:2800:220:1::1]/hook',
    // Only a look-up can tell where it leads.
    'https://localhost.example.com/',
  ])('may be %s', (text) => {
    expect(readReceiverUrl(text)?.href).toBe(text);
  });

  test.each(['http://localhost:3004/callbacks', 'http://[::1]:3004/', 'https://localhost:8443/'])(
    'may be %s on the local stack',
    (text) => {
      expect(readReceiverUrl(text)?.href).toBe(text);
    },
  );

  test('leads to a server of the local stack by its name', async () => {
    const { result } = await send(`http://localhost:${port}/`);

    expect(result).toEqual({ outcome: 'delivered', status: 200 });
    expect(asked).toEqual([]);
  });

  test.each([
    'http://localhost/',
    'http://127.0.0.2:3004/',
    'http://user@localhost:3004/',
    'ftp://localhost:3004/',
  ])('may not be %s even there', (text) => {
    expect(readReceiverUrl(text)).toBeUndefined();
  });

  test('has no other name of the local stack', async () => {
    zone['here.example'] = ['127.0.0.1'];

    expect(await send('https://here.example:3004/')).toEqual(failed('name_rejected'));
  });
});
