import { once } from 'node:events';
import net, { type AddressInfo, createServer } from 'node:net';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { stopDate } from '@node-registry/testing/clock';
import { connectionsOf } from '../../support/connections.ts';
import { startNameServer } from '../../support/name-server.ts';
import { deliverOnce, resolver } from '../../../lib/notifications/deliver-once.ts';
import { readSigningKeys } from '../../../lib/notifications/signature.ts';
import { setVariables } from '../../support/variables.ts';

/*
 * Every address here leads, in some spelling, to this machine, into a private network or nowhere. That none of them is
 * connected to is seen below the HTTP client, where connections begin; and the port that most of them name is one that
 * a server on all addresses listens to.
 */

setVariables({ NOTIFY_LOCALHOST: 'rejected' });

const keys = readSigningKeys(String(process.env.NOTIFICATION_SIGNING_KEY));
const names = await startNameServer();
let accepted = 0;
const server = createServer((socket) => {
  accepted += 1;
  socket.destroy();
});
resolver.setServers([names.address]);
await once(server.listen(0, '::'), 'listening');
const { port } = server.address() as AddressInfo;

afterAll(() => void server.close());

function send(address: string) {
  const body = '{"state":"success"}';
  return deliverOnce({ id: 'msg_1', address, body, content_type: 'application/json' }, keys);
}

/** Literal addresses, in every spelling that some parser takes. */
const hosts = [
  // Loopback
  ...'127.0.0.1 127.0.0.2 127.255.255.254 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1'.split(' '),
  ...'0177.0.0.1 0177.0.0.01 017700000001 127.0.0.1. %31%32%37.0.0.1 １２７.０.０.１ ①②⑦.⓪.⓪.①'.split(' '),
  ...'127。0。0。1 [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::]'.split(' '),
  // This network, and broadcast
  ...'0.0.0.0 0 0x0 0.1.2.3 255.255.255.255 4294967295'.split(' '),
  // Metadata and other link-local addresses
  ...'169.254.169.254 169.254.170.2 169.254.169.253 169.254.169.123 169.254.0.1 2852039166'.split(' '),
  ...'0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376 169.254.43518 169.16689662 [fe80::1]'.split(' '),
  ...'[fe80::a9fe:a9fe] [febf::1] [fd00:ec2::254] [fd00:ec2::23]'.split(' '),
  // Private, shared and benchmark networks
  ...'10.0.0.1 10.255.255.255 167772161 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.254'.split(' '),
  ...'0300.0250.0.1 100.64.0.1 100.100.100.200 100.127.255.255 198.18.0.1 198.19.255.255'.split(' '),
  ...'[fc00::1] [fdff:ffff::1] [fec0::1]'.split(' '),
  // Protocol assignments, documentation, multicast, reserved
  ...'192.0.0.1 192.0.0.171 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1'.split(' '),
  ...'239.255.255.250 240.0.0.1 [ff02::1] [ff05::1:3] [2001:db8::1] [3fff::1] [100::1] [5f00::1]'.split(' '),
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, ORCHID
  ...'[::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe]'.split(' '),
  ...'[0:0:0:0:0:ffff:10.0.0.1] [::127.0.0.1] [::a9fe:a9fe] [::ffff:0:127.0.0.1]'.split(' '),
  ...'[64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::a00:1] [2002:7f00:1::]'.split(' '),
  ...'[2002:a9fe:a9fe::1] [2001::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001:10::1]'.split(' '),
  '[2001:20::1]',
];

describe('an address of a receiver', () => {
  test.each(hosts)('https://%s is never connected to', async (host) => {
    let result: unknown;
    const connections = await connectionsOf(async () => {
      result = await send(`https://${host}:${port}/hook`);
    });

    expect(result).toEqual({ outcome: 'failed', error: 'address_rejected', isHopeless: true });
    expect(connections).toEqual([]);
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
  ])('never gets a connection or a lookup with %j', async (address) => {
    names.asked.length = 0;
    let result: unknown;
    const connections = await connectionsOf(async () => {
      result = await send(address);
    });

    expect(result).toEqual({ outcome: 'failed', error: 'address_rejected', isHopeless: true });
    expect(connections).toEqual([]);
    expect(names.asked).toEqual([]);
  });
});

describe('a name of a receiver', () => {
  test.each([
    ...'127.0.0.1 ::1 169.254.169.254 fd00:ec2::254 10.1.2.3 ::ffff:127.0.0.1 64:ff9b::7f00:1'.split(' '),
    ...'2002:7f00:1:: 0.0.0.0 :: 224.0.0.1'.split(' '),
    // One of several
    '93.184.216.34 127.0.0.1',
    '127.0.0.1 93.184.216.34',
    `${[34, 35, 36, 37, 38].map((last) => `93.184.216.${last}`).join(' ')} 127.0.0.1`,
    '93.184.216.34 ::1',
    '2606:2800:220:1::1 192.168.1.1',
  ])('never connects to %s', async (leads) => {
    const addresses = leads.split(' ');
    const name = 'leads-there.example';
    names.zone[name] = [addresses];
    let result: unknown;
    const connections = await connectionsOf(async () => {
      result = await send(`https://${name}:${port}/hook`);
    });

    expect(result).toEqual({ outcome: 'failed', error: 'name_rejected' });
    expect(connections).toEqual([]);
  });

  test.each([
    ...'localhost localhost. app.localhost internal metadata.google.internal no-such.example'.split(' '),
    // To the parser a backslash ends the host.
    'example.com\\@127.0.0.1',
  ])(
    'asks only the name servers for a name that is %s, and no file or list of this machine',
    async (name) => {
      let result: unknown;
      const connections = await connectionsOf(async () => {
        result = await send(`https://${name}:${port}/`);
      });

      expect(result).toEqual({ outcome: 'failed', error: 'name_not_found' });
      expect(connections).toEqual([]);
    },
  );

  test('gives a name up when no name server answers, in half the time of a try', async () => {
    const began = performance.now();

    expect(await send('https://silent.example/')).toEqual({ outcome: 'failed', error: 'name_not_found' });
    expect(performance.now() - began).toBeLessThan(7000);
  });
});

test('tries more than 80 hostile addresses, and reaches no loopback server', () => {
  expect(new Set(hosts).size).toBeGreaterThan(80);
  expect(accepted).toBe(0);
});

test('gives a try three seconds, including the lookup of its name', async () => {
  const began = Date.now();
  stopDate(began);
  Object.defineProperty(names.zone, 'slow.example.com', {
    get: () => {
      stopDate(began + 2900);
      return [['93.184.216.34']];
    },
  });
  // Nothing leaves this machine: the connection hangs.
  jest.spyOn(net.Socket.prototype, 'connect').mockReturnThis();
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const result = await send('https://slow.example.com/');

  expect(result).toEqual({ outcome: 'failed', error: 'timed_out' });
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(100);
});
