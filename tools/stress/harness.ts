import { readdir, readFile } from 'node:fs/promises';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { issueToken, type SigningKey } from '../local/issuer.ts';
import type { Simulation } from '../simulators/simulation.ts';
import { startSimulators } from '../simulators/start-simulators.ts';

/** The parts of a request that a check may change. The rest comes from the sample event. */
export interface HarnessRequest {
  path?: Record<string, unknown> | undefined;
  headers?: Record<string, unknown> | undefined;
  /** The text of the body, sent unchanged. */
  text?: string | undefined;
  body?: unknown;
  isBase64Encoded?: boolean;
  remainingMs?: number;
}

export interface HarnessAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: checks look into replies of every shape
  body: any;
}

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<Answer>;
type Answer = { statusCode: number; headers: Record<string, string>; body: string };
type Changed = Omit<APIGatewayProxyEventV2, 'headers' | 'pathParameters'> & {
  headers: object | undefined;
  pathParameters: object | undefined;
};

/**
 * The eight endpoints in this process, with simulated providers and tokens for callers, and the function that providers
 * notify: callers that give an address are notified by the service itself.
 */
export interface Harness {
  /** The endpoints; `call` also takes `receive-notification`. */
  names: readonly string[];
  call: (name: string, request?: HarnessRequest) => Promise<HarnessAnswer>;
  sample: (name: string) => APIGatewayProxyEventV2;
  bearer: (user: string, options?: { admin?: boolean; expiresInSeconds?: number }) => string;
  simulation: Simulation;
  close: () => Promise<void>;
}

/** The environment must already name the stores and the issuer's key; the providers are started here. */
export async function openHarness(): Promise<Harness> {
  const signingKey: SigningKey = JSON.parse(String(process.env.TEST_SIGNING_KEY));
  const simulators = await startSimulators({
    keys: { image: String(process.env.IMAGE_PROVIDER_KEY), video: String(process.env.VIDEO_PROVIDER_KEY) },
    tickMs: 5,
  });
  process.env.IMAGE_PROVIDER_URL = `${simulators.url}/image`;
  process.env.VIDEO_PROVIDER_URL = `${simulators.url}/video`;
  process.env.NOTIFICATIONS = 'relay';
  process.env.NOTIFICATION_URL = 'https://api.example.com/notifications';
  const handlers = new Map<string, Handler>();
  const samples = new Map<string, string>();
  const names = (await readdir('lib/contracts')).map((file) => file.replace('.ts', ''));
  for (const name of [...names, 'receive-notification']) {
    handlers.set(name, (await import(`../../functions/${name}.ts`)).handler);
    samples.set(name, await readFile(`events/${name}.json`, 'utf8'));
  }
  const sample = (name: string) => JSON.parse(String(samples.get(name)));
  return {
    names,
    sample,
    simulation: simulators.simulation,
    bearer: (user, options) => `Bearer ${issueToken(signingKey, { user, ...options })}`,
    close: simulators.stop,
    call: async (name, request = {}) => {
      const handler = handlers.get(name);
      if (!handler) throw new Error(`There is no function ${name}.`);
      const { remainingMs = 29_000 } = request;
      const context = { getRemainingTimeInMillis: () => remainingMs } as Context;
      const event = eventOf(sample(name), request) as APIGatewayProxyEventV2;
      const { statusCode, headers, body } = await handler(event, context);
      return { status: statusCode, headers, text: body, body: JSON.parse(body) };
    },
  };
}

function eventOf(sample: APIGatewayProxyEventV2, request: HarnessRequest): Changed {
  const { path, headers, text, body, isBase64Encoded = false } = request;
  const event = { ...sample, headers: { ...sample.headers, ...headers }, isBase64Encoded } as Changed;
  if ('headers' in request && !headers) event.headers = undefined;
  if ('path' in request) event.pathParameters = path;
  if ('text' in request || 'body' in request) event.body = text ?? JSON.stringify(body);
  return event;
}
