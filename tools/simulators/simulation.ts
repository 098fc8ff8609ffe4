import type { IncomingMessage, ServerResponse } from 'node:http';
import { imageFormat } from './image-format.ts';
import { parseAsWritten, parseObject } from '../../lib/json.ts';
import { type Misbehavior, misbehaviors } from './misbehaviors.ts';
import { exchangeOf, promptOf, wishesOf } from './prompt-words.ts';
import { Tasks, type TaskWishes } from './tasks.ts';
import { videoFormat } from './video-format.ts';
import type { Fields, ProviderError, WireFormat } from './wire-format.ts';

/** One request as a provider received it. `taskId` is set if a task was started and credits were spent. */
export interface Received {
  provider: 'image' | 'video';
  path: string;
  headers: IncomingMessage['headers'];
  body: Fields;
  taskId?: string;
}

interface Settings {
  keys: Record<'image' | 'video', string>;
  tickMs: number;
  /** Whether a request may extend a film that these simulators have not made. */
  hasEveryFilm?: boolean;
}

const formats: readonly WireFormat[] = [imageFormat, videoFormat];
const startingCredits = 1_000_000;
const maxReceived = 500;
const noObject: ProviderError = { status: 400, message: 'the body is not a JSON object' };

const unknownWords = ['WARMING_UP', 'rendering 80 %'];

/** The states of a task, one for each tick. */
function statesOf({ states, failedState }: WireFormat, wishes: TaskWishes): string[] {
  const [first = '', ...rest] = states;
  const success = rest.pop() ?? '';
  return [first, ...(wishes.hasUnknownWords ? unknownWords : rest), wishes.isFailing ? failedState : success];
}

/** Both providers: the requests they received, the tasks they started, and their next misbehaviors. */
export class Simulation {
  readonly received: Received[] = [];
  readonly tasks: Tasks;
  credits = startingCredits;
  readonly #misbehaviors: Misbehavior[] = [];
  readonly #stopping = new AbortController();
  readonly #keys: Settings['keys'];
  readonly #hasEveryFilm: boolean;

  constructor({ keys, tickMs, hasEveryFilm = false }: Settings) {
    this.#keys = keys;
    this.#hasEveryFilm = hasEveryFilm;
    this.tasks = new Tasks(tickMs, this.#stopping.signal);
  }

  misbehave(misbehavior: Misbehavior): void {
    this.#misbehaviors.push({ ...misbehavior });
  }

  get armed(): readonly Misbehavior[] {
    return this.#misbehaviors;
  }

  reset(): void {
    this.#misbehaviors.length = 0;
    this.received.length = 0;
    this.tasks.forget();
    this.credits = startingCredits;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async answer(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const { url = '/', headers } = request;
    const format = formats.find(({ provider }) => url.startsWith(`/${provider}/`));
    if (!format) return void response.writeHead(404).end();
    const path = url.slice(format.provider.length + 1);
    if (request.method === 'GET') return this.#tell(format, request, response);
    const body = parseObject(text, parseAsWritten);
    if (body === undefined) return answerJson(response, 400, format.errorBody(noObject));
    const entry: Received = { provider: format.provider, path, headers, body };
    this.received.push(entry);
    if (this.received.length > maxReceived) this.received.shift();

    const accept = () => this.#accept(format, entry);
    const { errorBody } = format;
    const armed = this.#nextMisbehavior(format.provider, 'POST');
    const error = armed ? undefined : this.#findError(format, entry, request.method);
    if (error) return answerJson(response, error.status, errorBody(error));
    const options = armed ?? exchangeOf(promptOf(body));
    if (!options) return answerJson(response, 200, accept());
    const stopped = this.#stopping.signal;
    const ended = () => this.tasks.ended(entry.taskId);
    await misbehaviors[options.kind]({ options, response, path: url, accept, ended, errorBody, stopped });
  }

  #accept(format: WireFormat, entry: Received): Fields {
    const { provider, notification } = format;
    const credits = format.creditsOf(entry.body);
    const notifyUrl = format.notifyUrlOf(entry.body);
    const { payload } = entry.body;
    const wishes = wishesOf(promptOf(entry.body));
    const states = statesOf(format, wishes);
    const task = this.tasks.start({ provider, credits, states, payload, notifyUrl, notification, wishes });
    entry.taskId = task.id;
    this.credits -= credits;
    return format.reply(task, entry.body, credits);
  }

  /** Returns a task's state. */
  async #tell(format: WireFormat, { url = '', headers }: IncomingMessage, response: ServerResponse) {
    const { provider, errorBody, keyOf, askedFor, notification } = format;
    const id = askedFor(url.slice(provider.length + 1));
    const task = this.tasks.list.find((each) => each.id === id && each.provider === provider);
    const options = this.#nextMisbehavior(provider, 'GET');
    const isAllowed = keyOf(headers) === this.#keys[provider];
    const status = isAllowed ? 404 : 401;
    const accept = () => (task && isAllowed ? notification(task) : errorBody({ status }));
    const ended = () => this.tasks.ended(id);
    const stopped = this.#stopping.signal;
    if (options)
      return misbehaviors[options.kind]({ options, response, path: url, accept, ended, errorBody, stopped });
    answerJson(response, task && isAllowed ? 200 : status, accept());
  }

  #findError(
    format: WireFormat,
    { path, headers, body }: Received,
    method: string | undefined,
  ): ProviderError | undefined {
    if (method !== 'POST' || !format.paths.includes(path)) return { status: 404, message: 'not found' };
    if (format.keyOf(headers) !== this.#keys[format.provider])
      return { status: 401, reason: 'Unauthorized', message: 'The key is not valid' };
    if (this.credits < format.creditsOf(body)) return format.outOfCredits;
    const { video_creation_id, ...rest } = body;
    return format.findError(path, this.#hasEveryFilm ? rest : body, this.tasks.list);
  }

  #nextMisbehavior(provider: string, method: string): Misbehavior | undefined {
    const index = this.#misbehaviors.findIndex(
      (next) => (next.provider ?? provider) === provider && (next.method ?? 'POST') === method,
    );
    const found = this.#misbehaviors[index];
    if (!found) return undefined;
    found.times = (found.times ?? 1) - 1;
    if (found.times <= 0) this.#misbehaviors.splice(index, 1);
    return found;
  }
}

function answerJson(response: ServerResponse, status: number, content: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(content));
}
