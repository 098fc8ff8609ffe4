import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { stopTimers } from '@node-registry/testing/clock';
import {
  type ClientOptions,
  createPublicIndex,
  createRegistryClient,
  type Fetch,
  type RegistryError,
  type Retry,
} from '../client.ts';

/** When the client asks, waits and gives up, to the millisecond: its own `fetch` is answered at once or never. */

const baseUrl = 'https://registry.example.com';
const statusUrl = 'https://downloads.example.com/status/x.json';
const start = Date.UTC(2026, 10, 23);
const pair = { node_id: 'any', version: '1.0.0' };
const patienceMs = 60_000;

type Answer = Response | 'lost' | 'refused' | 'silent';
let sent: { at: number; url: string; init: RequestInit }[];
let answers: ((place: number) => Answer) | undefined;

const request: Fetch = async (url, init) => {
  const answer = answers?.(sent.push({ at: Date.now() - start, url, init }) - 1) ?? 'lost';
  if (answer === 'lost') throw new TypeError('fetch failed');
  if (answer === 'refused') throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  if (answer !== 'silent') return answer;
  return new Promise((_, reject) =>
    init.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
  );
};

beforeEach(() => {
  sent = [];
  stopTimers(start);
  jest.spyOn(Math, 'random').mockReturnValue(1);
});

const clientWith = (options: Partial<ClientOptions> = {}) =>
  createRegistryClient({ baseUrl, fetch: request, ...options });
const times = () => sent.map(({ at }) => at);
const json = (status: number, body: unknown, headers = {}) =>
  new Response(JSON.stringify(body), { status, headers });
const bulk = (node_version?: object) =>
  json(200, { node_versions: [{ identifier: pair, status: 'success', node_version }] });

/** What a call ends with, and after how many milliseconds. It leaves no timer. */
async function endOf<Result>(call: Promise<Result>) {
  let end: { error?: unknown; result?: Result } | undefined;
  void call
    .then((result) => ({ result }))
    .catch((error: unknown) => ({ error }))
    .then((ended) => {
      end = ended;
    });
  const giveUpAt = performance.now() + patienceMs;
  while (end === undefined && performance.now() < giveUpAt) {
    for (let more = 0; more < 5; more += 1) await turn();
    if (end === undefined) jest.advanceTimersToNextTimer();
  }
  expect(jest.getTimerCount()).toBe(0);
  return { ...(end as { error?: RegistryError; result?: Result } | undefined), at: Date.now() - start };
}

describe('a call', () => {
  test.each([
    [1, [0, 200, 600, 1400, 3000]],
    [0, [0, 100, 300, 700, 1500]],
  ])(
    'meets closed doors five times, after doubling waits, up to half of them random: %d',
    async (random, at) => {
      jest.spyOn(Math, 'random').mockReturnValue(random);
      answers = () => 'refused';
      const retries: Retry[] = [];
      const signal = new AbortController().signal;
      const onRetry = (retry: Retry) => retries.push(retry);
      const call = clientWith().versions.bulk([pair], { signal, onRetry });

      expect(await endOf(call)).toMatchObject({ error: { code: 'unreachable' }, at: at.at(-1) });
      expect(times()).toEqual(at);
      expect(retries.map(({ attempt, waitMs, error }) => [attempt, waitMs, error.code])).toEqual(
        at.slice(1).map((time, place) => [place + 1, time - Number(at[place]), 'unreachable']),
      );
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    },
  );

  test('ends at once when it is aborted right before it waits', async () => {
    answers = () => 'lost';
    const stop = new AbortController();
    const client = clientWith({ onRetry: () => stop.abort(new Error('enough')) });

    const end = await endOf(client.versions.bulk([pair], { signal: stop.signal }));
    expect(end).toMatchObject({ error: { message: 'enough' }, at: 0 });
  });

  test.each([
    ['as long as its patience lasts', {}, [3000, 6200, 11_200, 16_200, 21_200]],
    ['as often as it may', { attempts: 7 }, [3000, 6200, 11_200]],
    ['until its own patience ends', { patienceMs: 12_000 }, [3000, 6200, 11_200]],
  ])('goes on after lost answers %s, and waits five seconds at most', async (_, options, at) => {
    answers = () => 'lost';
    await endOf(clientWith().versions.bulk([pair], options));

    expect(times().slice(4, 9)).toEqual(at);
    expect(times().at(-1)).toBeLessThanOrEqual(patienceMs);
  });

  test('waits for Retry-After, in seconds or until a date, while its last attempt starts within a minute', async () => {
    const until = new Date(start + 20_000).toUTCString();
    answers = (place) => json(503, {}, { 'retry-after': place === 0 ? until : '20' });

    expect(await endOf(clientWith().versions.bulk([pair]))).toMatchObject({ error: { retryAfter: 20 } });
    expect(times()).toEqual([0, 20_000, 40_000, 60_000]);
  });

  test.each([
    ['35 seconds', 35_000, {}],
    ['its own time', 10_000, { timeoutMs: 10_000 }],
  ])('repeats the request after %s without a response', async (_, timeoutMs, options) => {
    answers = () => 'silent';
    const { error } = await endOf(clientWith({ attempts: 2 }).versions.bulk([pair], options));

    const message = `${baseUrl} did not answer within ${timeoutMs} ms.`;
    expect(error).toMatchObject({ code: 'timed_out', message });
    expect(times()).toEqual([0, timeoutMs + 200]);
    expect(sent.map(({ init }) => init.signal?.aborted)).toEqual([true, true]);
  });

  test('ends in the middle of a wait with its signal', async () => {
    const stop = new AbortController();
    answers = () => json(503, {}, { 'retry-after': '30' });
    setTimeout(() => stop.abort(new Error('enough')), 1000);

    const end = await endOf(clientWith().versions.bulk([pair], { signal: stop.signal }));
    expect(end).toMatchObject({ error: { message: 'enough' }, at: 1000 });
  });

  test('asks once for its token, and aborts the request for it after 35 seconds', async () => {
    const heard: AbortSignal[] = [];
    const accessToken = (signal: AbortSignal) => {
      heard.push(signal);
      return heard.length === 1 ? 'token' : new Promise<never>(() => {});
    };
    const client = clientWith({ accessToken });
    answers = (place) => (place === 0 ? 'lost' : bulk());
    await endOf(client.versions.bulk([pair]));
    expect([heard.length, sent.length]).toEqual([1, 2]);

    expect(await endOf(client.versions.bulk([pair]))).toMatchObject({
      error: { code: 'timed_out', message: 'The function accessToken took more than 35000 ms.' },
      at: 35_200,
    });
    expect([heard[1]?.aborted, sent.length]).toEqual([true, 2]);
  });
});

describe('publish', () => {
  const input = {
    publisherId: 'demo',
    nodeId: 'any',
    version: { version: '1.0.0' },
    personalAccessToken: 'nrp_',
    archive: new Uint8Array([1]),
  };
  const registered = () => json(201, { node_version: {}, signedUrl: 'https://bucket.example.com/upload' });
  const pending = () => bulk({ status: 'NodeVersionStatusPending', status_reason_code: 'awaiting_upload' });

  test('looks more and more rarely whether the upload is checked, for two minutes', async () => {
    answers = (place) => (place === 0 ? registered() : place === 1 ? new Response() : pending());

    // A call's own fetch makes each of its requests.
    const client = clientWith({ fetch: () => Promise.reject(new Error('another call')) });
    expect((await endOf(client.publish(input, { fetch: request }))).error?.code).toBe('still_checking');
    const [, upload, ...looks] = sent;
    expect(looks.slice(0, 8).map(({ at }) => at)).toEqual([...[0, 250, 625, 1187, 2030, 3295, 5193, 7193]]);
    expect(looks.at(-1)?.at).toBeLessThan(120_000);
    expect(looks.at(-1)?.at).toBeGreaterThanOrEqual(118_000);
    expect(upload?.init).toEqual({
      method: 'PUT',
      headers: { 'content-type': 'application/zip' },
      body: expect.any(Blob),
      signal: expect.any(AbortSignal),
    });
  });

  test('may be done if its looks are lost after the upload', async () => {
    answers = (place) => (place === 0 ? registered() : place === 1 ? new Response() : 'lost');

    const lost = await endOf(clientWith().publish(input));
    expect(lost).toMatchObject({ error: { code: 'unreachable', mayBeDone: true } });
  });

  test('looks for two minutes after the end of an upload, however long that took', async () => {
    answers = (place) => {
      if (place === 0) return registered();
      if (place === 1) jest.setSystemTime(Date.now() + 600_000);
      return place === 1 ? new Response() : pending();
    };

    expect(await endOf(clientWith().publish(input))).toMatchObject({ error: { code: 'still_checking' } });
    expect(sent.length).toBeGreaterThan(60);
  });

  test.each([
    [500, 'four times', [0, 0, 500, 1500, 3500]],
    [403, 'once', [0, 0]],
  ])('after status %i, sends an upload %s, and leaves no answer of it open', async (status, _, at) => {
    let open = 0;
    const failed = () => {
      open += 1;
      const cancel = () => {
        open -= 1;
      };
      return new Response(new ReadableStream({ cancel }), { status });
    };
    answers = (place) => (place === 0 ? registered() : failed());

    expect((await endOf(clientWith().publish(input))).error).toMatchObject({
      code: 'upload_failed',
      status,
      message: `The upload was answered with status ${status}. Publish again.`,
    });
    expect(times()).toEqual(at);
    expect(open).toBe(0);
  });

  test('names the reason why an upload broke off', async () => {
    answers = registered;
    const upload = () => Promise.reject(Object.assign(new Error('lookup'), { code: 'ENOTFOUND' }));

    expect((await endOf(clientWith().publish(input, { upload }))).error).toMatchObject({
      message: 'The upload broke off: its host name is unknown (ENOTFOUND). Publish again.',
    });
  });

  test('gives up an upload that stands still after fifteen minutes', async () => {
    answers = (place) => (place === 0 ? registered() : 'silent');

    expect(await endOf(clientWith().publish(input))).toMatchObject({
      error: { code: 'upload_failed', message: 'The upload took longer than 900 seconds. Publish again.' },
      at: 900_000,
    });
    expect(sent).toHaveLength(2);
  });
});

test('an image is uploaded again after a lost connection and after status 500, within fifteen minutes', async () => {
  const image = new Uint8Array(4_000_001);
  const upload_url = `https://bucket.example.com/images/${createHash('sha256').update(image).digest('hex')}`;
  const body = { error: 'upload_needed', details: [{ path: 'body.image', message: 'a', upload_url }] };
  const needed = () => json(409, body, { 'x-request-id': 'r' });
  const bought = json(200, { data: { task_id: '7' } });
  const first: Answer[] = [needed(), 'lost', json(500, {}), new Response(), bought];
  answers = (place) => first[place] ?? 'lost';

  expect((await endOf(clientWith().images.relight({ image }))).result).toMatchObject({ taskId: '7' });
  expect(times()).toEqual([0, 0, 200, 600, 600]);

  answers = (place) => (place === 5 ? needed() : 'silent');
  const { error, at } = await endOf(clientWith().images.relight({ image }));
  const message = 'The upload of an image was cut off.';
  expect([error?.code, error?.message, at]).toEqual(['upload_failed', message, 900_600]);
});

describe('waiting for a task', () => {
  const status = (state: string) => json(200, { task_id: '7', state, media: ['a.webm'] });
  const wait = () =>
    clientWith({ accessToken: 'token', headers: { 'x-team': 'a' } }).tasks.wait(statusUrl, { onState });
  const film = { taskId: '7', media: ['a.webm'], creations: [], statusUrl };
  const states: string[] = [];
  const onState = ({ state }: { state: string }) => states.push(state);

  beforeEach(() => {
    states.length = 0;
  });

  test('asks more and more rarely, also if one is missing or lost, and tells each state once, without a token', async () => {
    const said: (() => Answer)[] = [
      ...[() => json(404, {}), () => json(500, {}), () => 'lost' as const, () => 'silent' as const],
      ...[() => status('created'), () => json(404, {}), () => status('created'), () => status('success')],
    ];
    answers = (place) => said[place]?.() ?? 'lost';

    expect((await endOf(wait())).result).toEqual(film);
    expect(times()).toEqual([0, 1000, 2300, 3990, 16_187, 19_043, 22_755, 27_581]);
    expect(states).toEqual(['created', 'success']);
    expect(sent.map(({ url, init: { signal: _, ...init } }) => [url, init])).toEqual(
      sent.map(() => [statusUrl, { cache: 'no-store', credentials: 'omit' }]),
    );
  });

  const buy = (more = {}) => clientWith().videos.fromText({}, { wait: true, onState, ...more });
  const bought = (headers = {}) => json(200, { task_id: '7', state: 'created', credits: 1 }, headers);
  const link = { link: `<${statusUrl}>; rel="status"` };

  test('begins with what the call answered, tells that once too, and returns what is known', async () => {
    const limited = {
      'ratelimit-policy': '"credits-per-day";q=2000;w=86400, "tasks \\"a\\"";q=5;w=60',
      ratelimit: '"credits-per-day";r=1980;t=43200',
      'x-ignored-fields': '"seed", "image_settings[1].durations"',
      'x-credits-used': '21',
    };
    const creations = [{ id: '1', url: 'a.webm' }];
    const ended = json(200, { task_id: '7', state: 'success', media: ['a.webm'], creations });
    answers = (place) => [bought({ ...link, ...limited }), status('created')][place] ?? ended;

    expect((await endOf(buy())).result).toEqual({
      ...film,
      credits: 21,
      ignored: ['seed', 'image_settings[1].durations'],
      creations: [{ id: '1', url: 'a.webm', cover_url: '' }],
      rateLimits: [
        { name: 'credits-per-day', limit: 2000, windowSeconds: 86400, remaining: 1980, resetSeconds: 43200 },
        { name: 'tasks "a"', limit: 5, windowSeconds: 60 },
      ],
    });
    expect(states).toEqual(['created', 'success']);
  });

  test('takes invalid headers for none', async () => {
    answers = () => bought({ 'x-ignored-fields': '"seed", a', 'x-credits-used': 'many', ratelimit: '' });

    const { result } = await endOf(clientWith().videos.fromText({}));
    expect(result).toMatchObject({ ignored: [], rateLimits: [], credits: 1, taskId: '7' });
  });

  test('runs in Workers whose requests lack options', async () => {
    const { prototype } = Request;
    const lacking = ['cache', 'credentials'].map((name) => ({
      name,
      own: Object.getOwnPropertyDescriptor(prototype, name),
    }));
    for (const { name } of lacking) Reflect.deleteProperty(prototype, name);
    answers = () => status('success');
    try {
      expect((await endOf(wait())).result).toEqual(film);
      expect(Object.keys(sent[0]?.init ?? {})).toEqual(['signal']);
    } finally {
      for (const { name, own } of lacking) Object.defineProperty(prototype, name, own ?? {});
    }
  });

  test('throws after five minutes without a word about a task whose start is in doubt', async () => {
    const failed = { error: 'provider_failed', message: 'It failed.' };
    const headers = { ...link, 'x-request-id': 'r' };
    answers = (place) => (place === 0 ? json(502, failed, headers) : json(404, {}));

    const { error, at } = await endOf(buy());
    expect(error).toMatchObject({ code: 'provider_failed', statusUrl, retry: expect.any(Function) });
    expect(at).toBeGreaterThanOrEqual(300_000);
    expect(at).toBeLessThan(310_000);
  });

  test('ends at once with its signal, and with the id of a paid task that has no status URL', async () => {
    const stop = new AbortController();
    answers = (place) => (place === 0 ? bought(link) : status('created'));
    setTimeout(() => stop.abort(new Error('enough')), 500);
    expect(await endOf(buy({ signal: stop.signal }))).toMatchObject({
      error: { message: 'enough' },
      at: 500,
    });
    answers = () => bought();

    expect((await endOf(buy())).error).toMatchObject({ code: 'no_status', taskId: '7' });
  });

  test.each([
    ['the media that follow a success', 3, ['a.webm'], 4],
    ['no media a minute after a success', 99, [], 13],
  ])('ends with %s', async (_, late, media, asked) => {
    answers = (place) => json(200, { task_id: '7', state: 'success', media: place < late ? [] : ['a.webm'] });

    expect((await endOf(wait())).result).toEqual({ ...film, media });
    expect(sent).toHaveLength(asked);
    expect(states).toEqual(['success']);
  });

  test('gives up after an hour, also if a status that was there is gone', async () => {
    answers = (place) => (place === 0 ? status('processing') : json(404, {}));

    expect((await endOf(wait())).error?.code).toBe('still_running');
    expect(times().at(-1)).toBe(3_600_000);
  });
});

describe('the public index', () => {
  const index = () => createPublicIndex({ downloadsUrl: 'https://downloads.example.com/', fetch: request });
  const node = { versions: [] };

  test('reads a file again after a lost answer, a 429 and a 503, and after no other', async () => {
    const said = ['lost' as const, json(429, {}), json(503, {}), json(200, node), json(400, {})];
    answers = (place) => said[place] ?? 'lost';

    expect((await endOf(index().node('A_b'))).result).toEqual(node);
    expect((await endOf(index().node('a'))).error).toMatchObject({ code: 'invalid_reply', status: 400 });
    expect(sent).toHaveLength(5);
    expect(sent[0]).toMatchObject({ url: 'https://downloads.example.com/index/v1/nodes/a-b.json' });
    expect(sent[0]?.init).toEqual({ headers: {}, credentials: 'omit', signal: expect.any(AbortSignal) });
  });

  test('is asked for a version before the API', async () => {
    const version = { version: '1.0.0', status: 'NodeVersionStatusPending' };
    answers = (place) => [json(200, node), bulk(version)][place] ?? 'lost';
    const client = clientWith({ downloadsUrl: 'https://downloads.example.com' });

    expect((await endOf(client.versions.get('any', '1.0.0'))).result).toEqual(version);
    expect(sent.map(({ init }) => init.method)).toEqual([undefined, 'POST']);
  });

  test('takes a catalog as fresh for a minute, and lets its reader change the list', async () => {
    const entry = (id: string) => ({ id, publisher: { id: 'demo' }, updated_at: '' });
    answers = (place) =>
      json(200, place % 2 ? { nodes: [entry('b'), entry('a')] } : { version: 1, catalog_pieces: 1 });
    const reader = index();
    const ids = async () => (await endOf(reader.catalog())).result?.map(({ id }) => id);
    (await endOf(reader.catalog())).result?.reverse();
    (await endOf(reader.search(' '))).result?.reverse();
    jest.setSystemTime(start + 59_999);
    expect([await ids(), sent.length]).toEqual([['a', 'b'], 2]);
    jest.setSystemTime(start + 60_000);

    expect([await ids(), sent.length]).toEqual([['a', 'b'], 4]);
  });

  test('rejects a file of more than 50 MB, and reads it no further', async () => {
    let megabytes = 0;
    let isLeft = false;
    const body = new ReadableStream({
      cancel: () => {
        isLeft = true;
      },
      pull: (controller) => {
        megabytes += 1;
        controller.enqueue(new Uint8Array(1_000_000).fill(32));
      },
    });
    answers = () => new Response(body);

    expect((await endOf(index().node('large'))).error?.code).toBe('invalid_reply');
    expect([megabytes < 53, isLeft]).toEqual([true, true]);
  });

  test('gives up a download in which nothing arrives for 35 seconds', async () => {
    answers = () => new Response(new ReadableStream({}));
    const version = { downloadUrl: 'https://downloads.example.com/a.zip', sha256: '0'.repeat(64) };
    const stream = (await endOf(index().download(version))).result;

    expect(await endOf(Promise.resolve(stream?.getReader().read()))).toMatchObject({
      error: { code: 'timed_out', message: `${version.downloadUrl} sent nothing for 35000 ms.` },
      at: 35_000,
    });
    const signal = expect.objectContaining({ aborted: true });
    expect(sent[0]?.init).toEqual({ signal, credentials: 'omit' });
  });
});
