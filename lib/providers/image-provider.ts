import { storedSecret } from '../aws/stored-secret.ts';
import * as config from '../config.ts';
import { isObject } from '../json.ts';
import type { RelightReply, RelightRequest } from '../contracts/relight-image.ts';
import type { Provider, StartedTask } from './provider-call.ts';
import { readWord, relightStatusOf, stateOf } from './reply.ts';

export const imageProvider = config.atStart((): Provider => {
  const environment = config.imageProvider();
  return {
    name: 'image',
    url: environment.IMAGE_PROVIDER_URL,
    key: storedSecret(environment.IMAGE_PROVIDER_KEY, 'header'),
    keyHeader: environment.IMAGE_PROVIDER_KEY_HEADER,
    echoesRequest: false,
  };
});

/** Clients require a status; if the provider omits it, the task counts as created. */
function relightReply({ task: { taskId }, reply }: StartedTask): RelightReply {
  const { generated, status } = isObject(reply.data) ? reply.data : reply;
  const word = readWord(status);
  return {
    data: {
      generated: Array.isArray(generated) ? generated.filter((image) => typeof image === 'string') : [],
      task_id: taskId,
      status: word === undefined ? 'CREATED' : relightStatusOf[stateOf(word) ?? 'created'],
    },
  };
}

export const imageCalls = {
  provider: imageProvider,
  body: (request: RelightRequest) => request,
  reply: relightReply,
};
