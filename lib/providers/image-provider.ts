import { storedSecret } from '../aws/stored-secret.ts';
import type { BoughtTask } from '../bought-task.ts';
import * as config from '../config.ts';
import { isObject } from '../json-object.ts';
import { type RelightReply, type RelightRequest, RelightStatus } from '../schemas/relight.ts';
import { type CallLimits, callProvider } from './call-provider.ts';
import type { Provider } from './provider.ts';

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

/** Starts a relight task. Clients require a status; a task whose status the provider leaves out is created. */
export async function startRelight(
  request: RelightRequest,
  limits: CallLimits,
): Promise<{ answer: RelightReply; bought: BoughtTask }> {
  const { taskId, reply } = await callProvider(imageProvider(), {
    path: '/v1/ai/image-relight',
    body: request,
    ...limits,
  });
  const { generated, status } = isObject(reply.data) ? reply.data : reply;
  const data = {
    generated: Array.isArray(generated) ? generated.filter((image) => typeof image === 'string') : [],
    task_id: taskId,
    status: RelightStatus.safeParse(status).data ?? 'CREATED',
  };
  return { answer: { data }, bought: { taskId } };
}
