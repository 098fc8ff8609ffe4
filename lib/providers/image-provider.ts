import type { Context } from '../context.ts';
import { storedSecret } from '../aws/stored-secret.ts';
import * as config from '../config.ts';
import { isObject } from '../json.ts';
import { type RelightReply, type RelightRequest, RelightStatus } from '../contracts/relight-image.ts';
import { ProviderCall, type StartedTask } from './provider-call.ts';
import type { Provider } from './exchange.ts';

const imageProvider = config.atStart(
  config.configured((): Provider => {
    const environment = config.imageProvider();
    return {
      name: 'image',
      url: environment.IMAGE_PROVIDER_URL,
      key: storedSecret(environment.IMAGE_PROVIDER_KEY, 'header'),
      keyHeader: environment.IMAGE_PROVIDER_KEY_HEADER,
      keyScheme: environment.IMAGE_PROVIDER_KEY_SCHEME,
      echoesRequest: false,
    };
  }),
);

/** The call that starts a relight task. */
export function relightCall(context: Context, body: () => Promise<RelightRequest>): ProviderCall {
  return new ProviderCall(imageProvider(), { path: '/v1/ai/image-relight', body, context });
}

/** Clients require a status; a task whose status the provider leaves out is created. */
export function relightReply({ task: { taskId }, reply }: StartedTask): RelightReply {
  const { generated, status } = isObject(reply.data) ? reply.data : reply;
  return {
    data: {
      generated: Array.isArray(generated) ? generated.filter((image) => typeof image === 'string') : [],
      task_id: taskId,
      status: RelightStatus.safeParse(status).data ?? 'CREATED',
    },
  };
}
