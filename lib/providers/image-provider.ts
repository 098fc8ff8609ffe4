import { readEnvironment } from '../environment.ts';
import { type RelightReply, type RelightRequest, RelightStatus } from '../schemas/relight.ts';
import { type CallLimits, callProvider } from './call-provider.ts';
import { isObject, type JsonObject, type Provider } from './provider.ts';
import { providerKey } from './provider-key.ts';
import { readTaskId } from './reply-fields.ts';

const environment = readEnvironment('imageProvider');

const imageProvider: Provider = {
  name: 'image',
  url: environment.IMAGE_PROVIDER_URL,
  key: providerKey(environment.IMAGE_PROVIDER_KEY),
  keyHeader: environment.IMAGE_PROVIDER_KEY_HEADER,
  keyScheme: environment.IMAGE_PROVIDER_KEY_SCHEME,
  echoesRequest: false,
  readFault: ({ message, invalid_params }) => ({
    text: message,
    details: (Array.isArray(invalid_params) ? invalid_params : [])
      .filter(isObject)
      .map(({ name, reason }) => ({
        path: typeof name === 'string' ? `body.${name}` : 'body',
        message: String(reason),
      })),
  }),
};

/** Starts a relight task. */
export function startRelight(request: RelightRequest, limits: CallLimits): Promise<RelightReply> {
  return callProvider(imageProvider, { path: '/v1/ai/image-relight', body: request, ...limits }, readTask);
}

/** Clients require a status, which the provider leaves out at times. A task that was just taken is created. */
function readTask({ data }: JsonObject): RelightReply | undefined {
  if (!isObject(data)) return undefined;
  const task_id = readTaskId(data.task_id);
  if (task_id === undefined) return undefined;
  const generated = Array.isArray(data.generated) ? data.generated : [];
  return {
    data: {
      generated: generated.filter((image) => typeof image === 'string'),
      task_id,
      status: RelightStatus.safeParse(data.status).data ?? 'CREATED',
    },
  };
}
