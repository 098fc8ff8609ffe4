import { fileOf, loadPaidContracts } from '../../infra/operations.ts';
import { readFile } from 'node:fs/promises';
import { encodeEventKey } from '../local/s3-event-key.ts';
import { drainQueue, type QueueHandler } from '../local/consume-queue.ts';
import { demo } from '../local/demo.ts';
import { streamRecord } from '../local/follow-table.ts';
import { zipOf } from '../local/demo-archive.ts';
import type { CountedStores } from './counted-stores.ts';
import type { Count } from './journal.ts';

/** A kind of call or event, counted over several of them. */
export interface Counted {
  name: string;
  /** As serverless.yml names it. */
  function: string;
  /** How long it takes on Lambda: not counted, but assumed from the bench and its provider. */
  ms: number;
  /** Whether the gateway is in front of it. */
  isRequest: boolean;
  /** Requests that Lambda makes of the queue to read and delete a message. */
  queueReads: number;
  /** Each call by itself. */
  counts: Count[];
}

type Handler = (event: unknown, context: unknown) => Promise<Reply>;
type Reply = { statusCode?: number; body?: string } | undefined;

const times = 3;
/** The most that a publisher may have waiting by default, with the one that is counted. */
const waiting = 100;
const swept = 20;
/** As the packs of a public registry have on average. */
const hostNodes = 75;
const minuteMs = 60_000;
/** Of a provider's answer, which a proxy waits for. */
const providerMs = 2000;

/** Counts each kind of call, one at a time, after one uncounted call. */
export async function countCalls(stores: CountedStores): Promise<Counted[]> {
  const calls = new Calls(stores);
  return [
    await calls.count('update node', 'update-node', () => calls.updateNode()),
    await calls.count('update host node', 'update-host-node', () => calls.updateHostNode()),
    ...(await calls.publishing()),
    await calls.count('bulk of 100 versions', 'bulk-node-versions', () => calls.bulk(), { ms: 60 }),
    ...(await calls.paid()),
    ...(await calls.notifications()),
    ...(await calls.sweeps()),
  ];
}

class Calls {
  readonly #stores: CountedStores;
  readonly #handlers = new Map<string, Handler>();
  #number = 0;

  constructor(stores: CountedStores) {
    this.#stores = stores;
  }

  async count(
    name: string,
    file: string,
    call: () => Promise<unknown>,
    { ms = 25, warmUp = true, isRequest = true, queueReads = 0, parts = 1, runs = times } = {},
  ): Promise<Counted> {
    const { journal, prepare } = this.#stores;
    await prepare(async () => warmUp && call());
    const counts: Count[] = [];
    for (let run = 0; run < runs; run += 1) {
      await call();
      counts.push(divided(journal.take(), parts));
    }
    return { name, function: camelCase(file), ms, isRequest, queueReads, counts };
  }

  async #invoke(file: string, event: unknown, remainingMs = 29_000): Promise<Reply> {
    const handler: Handler = this.#handlers.get(file) ?? (await import(`../../functions/${file}.ts`)).handler;
    this.#handlers.set(file, handler);
    this.#number += 1;
    return handler(event, {
      awsRequestId: `capacity-${this.#number}`,
      getRemainingTimeInMillis: () => remainingMs,
    });
  }

  /** Calls an endpoint with its sample event; a call that is not answered as it should be counts for nothing. */
  async #request(file: string, changes: Request = {}): Promise<Reply> {
    const event = JSON.parse(await readFile(`events/${file}.json`, 'utf8'));
    const reply = await this.#invoke(file, {
      ...event,
      headers: { ...event.headers, ...changes.headers },
      pathParameters: { ...event.pathParameters, ...changes.path },
      body: JSON.stringify({ ...JSON.parse(event.body), ...changes.body }),
    });
    const status = reply?.statusCode ?? 0;
    if (status >= 300 || status < 200) throw new Error(`${file} answered ${status}: ${reply?.body}`);
    return reply;
  }

  updateNode() {
    return this.#request('update-node', {
      headers: this.#owner,
      body: { description: `Change ${this.#number}. ${'About this node. '.repeat(100)}` },
    });
  }

  updateHostNode() {
    return this.#request('update-host-node', {
      headers: this.#owner,
      body: { description: `Change ${this.#number}.` },
    });
  }

  bulk() {
    const node_versions = Array.from({ length: 100 }, (_, index) => ({
      node_id: `pack-${index}`,
      version: '1.0.0',
    }));
    return this.#request('bulk-node-versions', { body: { node_versions } });
  }

  /** From a publish to its files in the index; then a publish while others wait; then nodes for others to read. */
  async publishing(): Promise<Counted[]> {
    const archive = await packOf(hostNodes);
    const stages: Record<string, Count[]> = { publish: [], upload: [], extraction: [], index: [] };
    for (let run = 0; run <= times; run += 1) {
      this.#stores.journal.take();
      const url = await this.#publish(demo.nodeId, `2.0.${run}`);
      const publish = this.#stores.journal.take();
      await fetch(url, { method: 'PUT', body: archive });
      await this.#stored('finalize-upload', new URL(url).pathname);
      const upload = this.#stores.journal.take();
      const published = upload.objects.find((path) => keyIn(path).startsWith('archives/')) ?? '';
      await this.#queued('extract-host-nodes', published);
      const extraction = this.#stores.journal.take();
      await this.#follow([publish, upload, extraction]);
      const index = this.#stores.journal.take();
      // The first one loads the functions, and makes files that the others change.
      if (run > 0)
        for (const [name, count] of Object.entries({ publish, upload, extraction, index }))
          stages[name]?.push(count);
    }
    const row = (name: string, file: string, stage: string, ms: number): Counted => ({
      ...{ name, function: camelCase(file), ms, isRequest: stage === 'publish' },
      queueReads: stage === 'extraction' ? 2 : 0,
      counts: stages[stage] ?? [],
    });
    const firsts = await this.count('publish a new node', 'publish-node-version', () =>
      this.#publish(`new-${this.#number}`, '1.0.0'),
    );
    // The new nodes wait too: three that were counted, and one that was not.
    const others = Array.from({ length: waiting - 2 * times - 1 }, (_, index) => `pack-${index}`);
    await this.#stores.prepare(() => fewAtOnce(others, (nodeId) => this.#publish(nodeId, '1.0.0')));
    const many = await this.count(
      `publish while ${waiting - times} to ${waiting - 1} others wait`,
      'publish-node-version',
      () => this.#publish(demo.nodeId, `3.0.${this.#number}`),
      { warmUp: false },
    );
    return [
      row('publish a version', 'publish-node-version', 'publish', 30),
      firsts,
      many,
      row('its upload', 'finalize-upload', 'upload', 400),
      row(`its ${hostNodes} host nodes`, 'extract-host-nodes', 'extraction', 1000),
      row('its files in the index', 'write-index', 'index', 200),
    ];
  }

  async #publish(nodeId: string, version: string): Promise<string> {
    const reply = await this.#request('publish-node-version', {
      headers: this.#owner,
      path: { nodeId },
      body: { node: { id: nodeId, name: nodeId }, node_version: { version, changelog: 'Faster loading.' } },
    });
    return JSON.parse(String(reply?.body)).signedUrl;
  }

  /** Tells a function that an object was stored. */
  async #stored(file: string, path: string): Promise<void> {
    const event = JSON.parse(await readFile('events/finalize-upload.json', 'utf8'));
    event.Records[0].s3.object.key = encodeEventKey(keyIn(path));
    await this.#invoke(file, event, 60_000);
  }

  /** Calls a function with the queue's message about an object. */
  async #queued(file: string, path: string): Promise<void> {
    const event = JSON.parse(await readFile(`events/${file}.json`, 'utf8'));
    event.Records[0].body = JSON.stringify({ key: keyIn(path) });
    await this.#invoke(file, event, 60_000);
  }

  /** The table's stream, as the function's filter passes it on. */
  async #follow(counts: readonly Count[]): Promise<void> {
    const targets = counts.flatMap(({ written }) => written).map(({ target }) => target);
    const Records = targets.flatMap(
      ({ partition, sort = '' }, index) =>
        streamRecord({ pk: { S: partition }, sk: { S: sort } }, index) ?? [],
    );
    for (let start = 0; start < Records.length; start += 100)
      await this.#invoke('write-index', { Records: Records.slice(start, start + 100) }, 60_000);
  }

  async paid(): Promise<Counted[]> {
    const rows: Counted[] = [];
    for (const name of (await loadPaidContracts()).map((contract) => fileOf(contract.name))) {
      const words = name.replaceAll('-', ' ');
      const options = { ms: providerMs };
      rows.push(await this.count(words, name, () => this.pay(name), options));
      rows.push(
        await this.count(`${words}, with a key`, name, () => this.pay(name, { hasKey: true }), options),
      );
    }
    rows.push(
      await this.count('a replay by its key', 'text-to-video', () =>
        this.pay('text-to-video', { key: 'again' }),
      ),
    );
    return rows;
  }

  pay(name: string, { user = 'payer', hasKey = false, key = '', body = {} }: Payment = {}): Promise<Reply> {
    const unique = hasKey ? `key-${this.#number}` : key;
    const headers = {
      authorization: this.#stores.bearer(user),
      ...(unique !== '' && { 'idempotency-key': unique }),
    };
    return this.#request(name, { headers, body });
  }

  async notifications(): Promise<Counted[]> {
    const tasks: Task[] = [];
    await this.#stores.prepare(async () => {
      for (let index = 0; index <= times; index += 1) tasks.push(await this.#newTask());
    });
    const say = (state: string) => {
      let next = 0;
      return () => this.#notify(tasks[next++] as Task, state);
    };
    const processing = await this.count('a state received', 'receive-notification', say('processing'));
    const delivered = await this.count('… and delivered', 'deliver-notifications', () => this.#deliver(1), {
      ms: 150,
      isRequest: false,
      queueReads: 2,
    });
    const success = await this.count('the last state received', 'receive-notification', say('success'));
    await this.#stores.prepare(() => this.#deliver(100));
    return [processing, delivered, success];
  }

  async #newTask(): Promise<Task> {
    await this.pay('text-to-video', { body: { callback_url: `${this.#stores.receiverUrl}/inbox` } });
    const { callback_url } = this.#stores.simulation.received.at(-1)?.body ?? {};
    const [provider = '', ticket = ''] = String(callback_url).split('/').slice(-2);
    return { provider, ticket };
  }

  #notify(path: Task, state: string): Promise<Reply> {
    return this.#request('receive-notification', { path: { ...path }, body: { state } });
  }

  async #deliver(max: number): Promise<void> {
    const handler: QueueHandler = async (event, context) =>
      (await this.#invoke('deliver-notifications', event, context.getRemainingTimeInMillis())) as Awaited<
        ReturnType<QueueHandler>
      >;
    const received = await this.#stores.queue.receive(
      { max: Math.min(10, max), waitSeconds: 0, visibilitySeconds: 180 },
      new AbortController().signal,
    );
    const Records = received.map(({ MessageId, Body }) => ({ messageId: MessageId, body: Body }));
    if (Records.length === 0) return;
    const invocation = { awsRequestId: 'counted', getRemainingTimeInMillis: () => 30_000 };
    await handler({ Records } as Parameters<QueueHandler>[0], invocation);
    for (const { ReceiptHandle } of received) this.#stores.queue.remove(ReceiptHandle);
    if (max > received.length) await drainQueue(this.#stores.queue, handler);
  }

  /** Each for what it finds, so many at a time, and one that finds nothing. */
  async sweeps(): Promise<Counted[]> {
    const sweep = (file: string, part?: object) => this.#invoke(file, { source: 'aws.events', part }, 60_000);
    const options = { ms: 200, warmUp: false, isRequest: false, runs: 1 };
    // What was done before this is swept before it is counted.
    const files = ['sweep-spending', 'finalize-upload', 'extract-host-nodes', 'deliver-notifications'];
    await this.#stores.prepare(async () => {
      await later(10 * minuteMs, () => Promise.all(files.map((file) => sweep(file))));
    });
    const idle: Counted[] = [];
    for (const file of files)
      idle.push(
        await this.count(
          String(sweepNames[file]),
          file,
          () => later(12 * minuteMs, () => sweep(file, { index: 0, of: 4 })),
          { ...options, ms: file === 'sweep-spending' ? 50 : options.ms },
        ),
      );
    const users = Array.from({ length: swept }, (_, index) => `swept-${index}`);
    await this.#stores.prepare(() => fewAtOnce(users, (user) => this.pay('text-to-video', { user })));
    const accounts = await this.count(
      'a minute of an account closed',
      'sweep-spending',
      () => later(10 * minuteMs, () => sweep('sweep-spending')),
      { ...options, ms: 2, parts: swept },
    );
    return [accounts, ...idle];
  }

  get #owner() {
    return { authorization: this.#stores.bearer(demo.owner) };
  }
}

const sweepNames: Record<string, string> = {
  'sweep-spending': 'a quarter of a sweep that finds no account',
  'finalize-upload': `sweep that finds ${waiting} uploads waiting`,
  'extract-host-nodes': 'sweep that finds no extraction',
  'deliver-notifications': 'hand-over that finds no notification',
};

interface Request {
  headers?: Record<string, string>;
  path?: Record<string, string>;
  body?: Record<string, unknown>;
}

interface Payment {
  user?: string;
  hasKey?: boolean;
  key?: string;
  body?: Record<string, unknown>;
}

interface Task {
  provider: string;
  ticket: string;
}

/** Lets the clock of this process run ahead. */
async function later<Result>(milliseconds: number, work: () => Promise<Result>): Promise<Result> {
  const now = Date.now;
  Date.now = () => now() + milliseconds;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

/** A busy machine answers few calls of one process in time. */
async function fewAtOnce<Entry>(entries: readonly Entry[], work: (entry: Entry) => Promise<unknown>) {
  const left = entries.values();
  const worker = async () => {
    for (const entry of left) await work(entry);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}

function divided(count: Count, parts: number): Count {
  if (parts === 1) return count;
  const { reads, writes, indexWrites } = count;
  return {
    ...count,
    reads: reads / parts,
    writes: writes / parts,
    indexWrites: indexWrites / parts,
    rounds: { before: 0, after: 0 },
  };
}

/** The key of an object, from its path. */
function keyIn(path: string): string {
  return decodeURIComponent(path).split('/').slice(2).join('/');
}

function camelCase(file: string): string {
  return file.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A pack with so many host nodes of about 0.9 KB each. */
function packOf(count: number): Promise<Buffer> {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const classes = numbers.map(
    (index) => `class Node${index}:
    CATEGORY = "demo/image"
    DESCRIPTION = "${'Does something with an image. '.repeat(10)}"
    FUNCTION = "run"
    RETURN_TYPES = ("IMAGE", "MASK")
    RETURN_NAMES = ("image", "mask")

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"image": ("IMAGE", {"tooltip": "${'The image to change. '.repeat(8)}"}), "strength": ("FLOAT", {"default": 1.0, "min": 0.0, "max": 1.0, "step": 0.05})}}
`,
  );
  const names = numbers.map((index) => `"Node ${index}": Node${index}`).join(', ');
  return zipOf({ '__init__.py': `${classes.join('\n')}\nNODE_CLASS_MAPPINGS = {${names}}\n` });
}
