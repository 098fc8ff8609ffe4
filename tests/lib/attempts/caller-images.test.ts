import { createHash, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { callerHash } from '../../../lib/caller.ts';
import { type Listener, relay, startReverseProxy } from '../../../tools/local/reverse-proxy.ts';
import { setVariables } from '../../support/variables.ts';
import { type ProxyName, proxyNames, simulation } from '../../support/proxies.ts';
import { untilEnd } from '../../support/serve.ts';
import { pay, spender } from '../../support/spending.ts';
import { blockCaller } from '../../../tools/admin/spend/limits.ts';
import { stopDate } from '@node-registry/testing/clock';
import '../../support/relay.ts';

const photo = randomBytes(200_000);
const nameOf = (bytes: Buffer, length = bytes.length) =>
  `upload:${createHash('sha256').update(bytes).digest('hex')}:${length}`;

beforeEach(() => simulation.reset());

const put = (url: string, body: Buffer, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body: new Uint8Array(body), headers });

/** Lets the functions of a test reach the bucket through a proxy. */
async function putBefore(listener: Listener): Promise<void> {
  const bucketUrl = String(process.env.AWS_ENDPOINT_URL_S3);
  setVariables({ AWS_ENDPOINT_URL_S3: untilEnd(await startReverseProxy(bucketUrl, listener)).url });
}

/** Uploads what an answer asks for, and sends the request again. */
async function payWith(user: string, name: ProxyName, body: Record<string, unknown>, bytes: Buffer) {
  const first = await pay(user, name, { body });
  for (const { upload_url } of first.body.details ?? [])
    expect((await put(upload_url, bytes)).status).toBe(200);
  return { first, second: await pay(user, name, { body }) };
}

/** Where each operation takes an image. */
const bodies: Record<ProxyName, (image: string) => Record<string, unknown>> = {
  'relight-image': (image) => ({ image }),
  'text-to-video': (image) => ({ images: [image] }),
  'extend-video': (image) => ({ images: [image] }),
  'multiframe-video': (image) => ({
    start_image: image,
    image_settings: [{ key_image: image }, { key_image: 'https://example.com/b.png' }],
  }),
};

describe('an image that a request names as an upload', () => {
  test.each(proxyNames)(
    'reaches the provider of %s as an address of its bytes, in two requests',
    async (name) => {
      const body = bodies[name]?.(nameOf(photo)) ?? {};
      const { first, second } = await payWith(await spender(), name, body, photo);
      const sent = JSON.stringify(simulation.received[0]?.body);
      const [address = ''] = /http:\/\/localhost[^"]+\/images\/[^"]+/.exec(sent) ?? [];

      expect([first.status, first.body.error]).toEqual([409, 'upload_needed']);
      expect(first.body.details[0].path).toMatch(
        /^body\.(?:image|images\.0|start_image|image_settings\.0\.key_image)$/,
      );
      expect(second.status).toBe(200);
      expect(simulation.received).toHaveLength(1);
      expect(sent).not.toContain('upload:');
      expect(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(photo)).toBe(true);
      // A provider may begin a task hours later.
      expect(new URL(address).searchParams.get('X-Amz-Expires')).toBe(String(12 * 60 * 60));
    },
  );

  // It expires after 72 hours, and its address ends with no credentials of the function.
  test.each([
    [23, true, 200],
    [25, true, 409],
    [47, false, 200],
    [49, false, 409],
  ])(
    'stays readable while it may be fetched: after %i hours, off-peak %s, %i',
    async (hours, off_peak, status) => {
      const user = await spender();
      const bytes = randomBytes(1000);
      const body = { images: [nameOf(bytes)], off_peak };
      await payWith(user, 'text-to-video', body, bytes);
      const { images } = simulation.received.at(-1)?.body ?? {};
      await putBefore(async (_, response, { send }) => {
        const reply = await send();
        const modified = new Date(Date.now() - hours * 3_600_000).toUTCString();
        response.writeHead(reply.statusCode ?? 0, { ...reply.headers, 'last-modified': modified }).end();
      });
      const later = await pay(user, 'text-to-video', { body });

      expect(later.status).toBe(status);
      expect(String(images)).toMatch(off_peak ? /\/images\/\w+\/\w+$/ : /X-Amz-Expires=43200/);
    },
  );

  test('hides another caller’s upload, even that it exists, and one of another size', async () => {
    const bytes = randomBytes(1000);
    const body = { image: nameOf(bytes) };
    const user = await spender();
    const { second } = await payWith(user, 'relight-image', body, bytes);
    // As S3 answers those who may not list the bucket.
    await putBefore(async (_, response, { send }) => {
      const reply = await send();
      if (reply.statusCode === 404) reply.statusCode = 403;
      relay(reply, response);
    });
    const stranger = await pay(await spender(), 'relight-image', { body });
    const other = await pay(user, 'relight-image', { body: { image: nameOf(bytes, 999) } });

    expect(second.status).toBe(200);
    expect([stranger, other].map((each) => each.body.error)).toEqual(Array(2).fill('upload_needed'));
    expect(simulation.received).toHaveLength(1);
  });

  test.each([
    ['a prompt', { image: 'https://example.com/a.png', prompt: nameOf(photo) }],
    ['a setting', { image: 'https://example.com/a.png', advanced_settings: { engine: nameOf(photo) } }],
  ])('looks for an image only where the contract takes one, not in %s', async (_, body) => {
    const { status } = await pay(await spender(), 'relight-image', { body });

    expect(status).toBe(200);
    expect(JSON.stringify(simulation.received[0]?.body)).toContain(nameOf(photo));
  });

  const digest = 'a'.repeat(64);

  test('is named by its digest and a size up to 50,000,000 bytes, and in no other way', async () => {
    const user = await spender();
    const send = async (image: string) => (await pay(user, 'relight-image', { body: { image } })).body;
    const sizes = ['', ':0', ':-1', ':50000001', '/../x:10', ':1e3'].map((rest) => `upload:${digest}${rest}`);
    const others = [`upload:${'A'.repeat(64)}:10`, `UPLOAD:${digest}:10`, `upload:${digest.slice(1)}:10`];
    for (const image of ['upload:', 'upload:x:1', 'upload:../../../archives/demo:10', ...sizes, ...others])
      expect([image, await send(image)]).toMatchObject([
        image,
        { error: 'invalid_request', details: [{ path: 'body.image' }] },
      ]);
    expect((await send(`upload:${digest}:50000000`)).error).toBe('upload_needed');
    expect(simulation.received).toEqual([]);
  });
});

describe('an upload address', () => {
  const image = (bytes = 10) => nameOf(randomBytes(8), bytes);
  const ask = (user: string, ...images: string[]) =>
    pay(user, 'multiframe-video', {
      body: { start_image: image(), image_settings: images.map((key_image) => ({ key_image })) },
    });
  const nine = (bytes?: number) => Array.from({ length: 9 }, () => image(bytes));

  test('is handed to no caller that is blocked or over its requests of a minute, whatever its day has, and counts for no minute', async () => {
    const user = await spender({ requests_per_minute: 1 });
    for (let times = 0; times < 2; times += 1) expect((await ask(user, image(), image())).status).toBe(409);
    await pay(user);
    const over = await ask(user, image(), image());
    await blockCaller({ operator: 'admin' }, `user:${user}`, 'a test');
    const blocked = await ask(user, image(), image());

    expect([over.body.error, blocked.body.error]).toEqual(['too_many_requests', 'caller_blocked']);
    expect([over, blocked].map(({ text }) => text.includes('upload_url'))).toEqual([false, false]);
    const spent = await spender({ tasks_per_day: 1 });
    await pay(spent);
    expect((await ask(spent, image(), image())).status).toBe(409);
  });

  test('is handed out for 20 open uploads, again after 15 minutes', async () => {
    stopDate();
    const user = await spender();
    const first = await ask(user, ...nine());
    expect([first.status, (await ask(user, ...nine())).status]).toEqual([409, 409]);
    const third = await ask(user, image(), image());
    expect([third.status, third.body.error]).toEqual([429, 'too_many_requests']);
    expect(third.headers['retry-after']).toBe('900');
    stopDate(Date.now() + 900_001);

    expect((await ask(user, image(), image())).status).toBe(409);
  });

  test('is handed out for 500 MB, and once for the same bytes', async () => {
    const user = await spender();
    const named = nine(50_000_000);
    for (let times = 0; times < 2; times += 1) expect((await ask(user, ...named)).status).toBe(409);
    const one = await pay(user, 'relight-image', { body: { image: image(50_000_000) } });

    expect(one.body.error).toBe('too_many_requests');
    // The URL of one digest with other bytes is another one, and hides none.
    const smaller = named.slice(0, 3).map((each) => each.replace(/\d+$/, '1'));
    expect((await ask(user, ...smaller)).status).toBe(409);
    expect((await pay(user, 'relight-image', { body: { image: image(50_000_000) } })).status).toBe(429);
    expect((await pay(user, 'relight-image', { body: { image: image(49_000_000) } })).status).toBe(409);
  });

  test('does not count uploads that were made', async () => {
    const user = await spender();
    const made = Array.from({ length: 20 }, () => randomBytes(10));
    for (const part of [made.slice(0, 10), made.slice(10)]) {
      const [start_image = '', ...others] = part.map((bytes) => nameOf(bytes));
      const image_settings = others.map((key_image) => ({ key_image }));
      const { body } = await pay(user, 'multiframe-video', { body: { start_image, image_settings } });
      for (const { upload_url } of body.details) {
        const bytes = part.find((each) => upload_url.includes(nameOf(each).split(':')[1]));
        expect((await put(upload_url, bytes as Buffer)).status).toBe(200);
      }
    }

    expect((await ask(user, ...nine())).status).toBe(409);
  });
});

test('an upload address ends after 15 minutes, with the digest, the size and the caller’s folder signed', async () => {
  const [user, bytes] = [await spender(), randomBytes(10)];
  const { body } = await pay(user, 'relight-image', { body: { image: nameOf(bytes) } });
  const { pathname, searchParams } = new URL(body.details[0].upload_url);
  const digest = createHash('sha256').update(bytes).digest();

  expect(searchParams.get('X-Amz-Expires')).toBe('900');
  expect(searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;host');
  expect(searchParams.get('x-amz-checksum-sha256')).toBe(digest.toString('base64'));
  expect(pathname.endsWith(`/images/${callerHash(`user:${user}`)}/${digest.toString('hex')}`)).toBe(true);
});
