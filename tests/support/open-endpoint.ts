import * as z from 'zod/mini';
import type { Access, Contract } from '../../lib/contract.ts';
import type { Provider } from '../../lib/providers/provider-call.ts';
import { type Changes, invoke, type Result } from './invoke.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { keyedEndpoint } from '../../lib/http/keyed-endpoint.ts';
import type { PaidContract } from '../../lib/contract.ts';
import { paidEndpoint } from '../../lib/http/paid-endpoint.ts';
import { setVariables } from './variables.ts';

setVariables({ PROXY_ACCESS_TOKEN: 'optional', PUBLISH_ACCESS_TOKEN: 'required' });

/** An operation that needs nothing but the boundary. */
const contract = {
  name: 'echo',
  method: 'POST',
  path: '/echo/{place}',
  summary: 'Echo',
  description: 'Echoes.',
  access: 'anyone' as Access,
  parameters: z.object({ place: z.string().check(z.maxLength(5)) }),
  body: z.object({ text: z._default(z.string(), 'nothing'), times: z.optional(z.int()) }),
  reply: z.unknown(),
  status: 201,
  errors: [],
} as const satisfies Contract;

type Call = Parameters<Parameters<typeof endpoint<Contract>>[1]>[0];
type Handler = (call: Call) => Promise<{ body: unknown; headers?: Record<string, string> | undefined }>;

const echo: Handler = async ({ path, body, caller }) => ({ body: { path, body, caller } });

export function open(changes: Partial<Contract> = {}, handle: Handler = echo) {
  const opened = { ...contract, ...changes };
  const repeatable = (call: Call) => ({ reply: () => handle(call), refresh: async (kept: unknown) => kept });
  const isKeyed = opened.idempotent || typeof opened.access === 'object';
  return caller(isKeyed ? keyedEndpoint<Contract>(opened, repeatable) : endpoint(opened, handle));
}

/** The same for an operation that buys something, of a provider of the test's own. */
export function openPaid(provider: Partial<Provider>, changes: Partial<Contract> = {}) {
  const bought: Provider = {
    ...{ name: 'video', url: 'http://127.0.0.1:1', keyHeader: 'x-key', echoesRequest: false },
    key: { read: async () => 'a key', forget: () => {}, replacementOf: async () => undefined },
    ...provider,
  };
  const paid: PaidContract = {
    ...contract,
    ...changes,
    price: { toldBy: 'rate', rate: { task: 1 }, variesBy: [] },
    notifies: { provider: 'image', field: 'webhook_url' },
  };
  return caller(
    paidEndpoint(paid, {
      provider: () => bought,
      path: '/echo',
      body: (request) => Object(request),
      reply: ({ reply }) => reply,
    }),
  );
}

function caller(handler: ReturnType<typeof endpoint>) {
  const call = ({ headers, ...rest }: Changes = {}): Promise<Result> =>
    invoke(handler, 'relight-image', {
      path: { place: 'here' },
      body: {},
      headers: { authorization: undefined, ...headers },
      ...rest,
    });
  return { handler, call };
}

export const fail =
  (error: unknown): Handler =>
  () =>
    Promise.reject(error);
