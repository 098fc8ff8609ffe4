import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { fc } from '@node-registry/testing/properties';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { httpRequest } from '../../../lib/outgoing/http-request.ts';
import { findAddresses, pinnedTo, resolver } from '../../../lib/notifications/deliver-once.ts';
import { isPublic, readReceiverUrl } from '../../../lib/notifications/notification-urls.ts';
import { connectionsOf } from '../../support/connections.ts';
import { startNameServer } from '../../support/name-server.ts';
import { peer, trustPeer } from '../../support/tls-peer.ts';

const names = await startNameServer();
const receiver = createServer((_, response) => response.end('taken'));
const serverNames: string[] = [];
const tlsReceiver = createTlsServer({
  ...peer,
  SNICallback: (name, callback) => {
    serverNames.push(name);
    callback(null);
  },
});
const ports = { plain: 0, tls: 0 };

beforeAll(async () => {
  trustPeer();
  resolver.setServers([names.address]);
  receiver.listen(0, '127.0.0.1');
  tlsReceiver.listen(0, '127.0.0.1');
  await Promise.all([once(receiver, 'listening'), once(tlsReceiver, 'listening')]);
  ports.plain = (receiver.address() as AddressInfo).port;
  ports.tls = (tlsReceiver.address() as AddressInfo).port;
  tlsReceiver.on('secureConnection', (socket: TLSSocket) => socket.end());
});

beforeEach(() => {
  names.asked.length = 0;
  serverNames.length = 0;
});

afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
  tlsReceiver.close();
});

const loopback = [{ address: '127.0.0.1', family: 4 }];

function get(url: string, addresses = loopback) {
  const lookup = pinnedTo(addresses);
  return httpRequest({ url: new URL(url), method: 'GET', timeoutMs: 60_000, maxReplyBytes: 100, lookup });
}

describe('a connection', () => {
  test('goes to the address that was checked, whatever the name leads to by then', async () => {
    let status = 0;
    const connections = await connectionsOf(async () => {
      ({ status } = await get(`http://receiver.example:${ports.plain}/`));
    });

    expect(status).toBe(200);
    expect(connections).toEqual([`127.0.0.1 ${ports.plain}`]);
    expect(names.asked).toEqual([]);
  });

  test('tries the next of several addresses if the first takes no connection', async () => {
    const addresses = [{ address: '::1', family: 6 }, ...loopback];

    expect(await get(`http://receiver.example:${ports.plain}/`, addresses)).toMatchObject({ status: 200 });
  });

  test('offers and checks the name of the address over TLS, not the pinned number', async () => {
    const request = get(`https://receiver.example:${ports.tls}/`);

    // The certificate of this receiver is for 127.0.0.1, where the connection goes, but not for its name.
    await expect(request).rejects.toMatchObject({
      sent: false,
      cause: expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    });
    expect(serverNames).toEqual(['receiver.example']);
  });

  test('tries the first four of many addresses, and no more', async () => {
    const addresses = Array.from({ length: 250 }, (_, index) => ({ address: `127.0.1.${index}`, family: 4 }));
    const connections = await connectionsOf(() =>
      expect(get(`http://receiver.example:${ports.plain}/`, addresses)).rejects.toMatchObject({
        sent: false,
      }),
    );

    expect(connections).toEqual([0, 1, 2, 3].map((last) => `127.0.1.${last} ${ports.plain}`));
  });
});

describe('a name', () => {
  test('resolves a name once, so a changed one is used as it was when it was checked', async () => {
    names.zone['rebinding.example'] = [['93.184.216.34'], ['127.0.0.1']];
    const url = new URL('https://rebinding.example/');

    expect(await findAddresses(url)).toEqual([{ address: '93.184.216.34', family: 4 }]);
    expect(names.asked.sort()).toEqual(['A rebinding.example', 'AAAA rebinding.example']);
    expect(await findAddresses(url)).toBe('not public');
  });

  test('gives all its addresses of both kinds, and a number as that number, without a lookup', async () => {
    const [one, two] = ['93.184.216.34', '2606:2800:220:1::1'];
    names.zone['both.example'] = [[one, two]];
    const found = [
      { address: one, family: 4 },
      { address: two, family: 6 },
    ];

    expect(await findAddresses(new URL('https://both.example/'))).toEqual(found);
    names.asked.length = 0;
    for (const [index, host] of [one, `[${two}]`].entries())
      expect(await findAddresses(new URL(`https://${host}/`))).toEqual([found[index]]);
    expect(names.asked).toEqual([]);
  });
});

test('knows the addresses that anyone may have', () => {
  const taken = [
    ...'1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1'.split(' '),
    ...'169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255'.split(' '),
    ...'192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2001:200::1 2001:db7:ffff::1'.split(' '),
    ...'2001:db9::1 2003::1 2606:4700::1111 3ffe::1 3fff:1000::1'.split(' '),
  ];
  const rejected = ['', 'example.com', '1.1.1', '1.1.1.1.1', '2606:4700::1111%eth0', ':::'];

  expect([...taken, ...rejected].filter(isPublic)).toEqual(taken);
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

  test.each([
    ['http://localhost:3004/callbacks', 2],
    ['http://[::1]:3004/', 1],
    ['https://localhost:8443/', 2],
  ])('may be %s on the local stack', async (text, count) => {
    const url = readReceiverUrl(text);

    expect(url?.href).toBe(new URL(text).href);
    expect(await findAddresses(url as URL)).toHaveLength(count);
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
    names.zone['here.example'] = [['127.0.0.1']];

    expect(await findAddresses(new URL('https://here.example:3004/'))).toBe('not public');
  });
});
