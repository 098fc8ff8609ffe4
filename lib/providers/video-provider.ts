import * as z from 'zod/mini';
import { readEnvironment } from '../environment.ts';
import { note } from '../log.ts';
import { taskFields } from '../schemas/video.ts';
import { boundedObject, type SerializedJson } from '../http/bounded-json.ts';
import { type CallLimits, callProvider } from './call-provider.ts';
import type { JsonObject, Provider } from './provider.ts';
import { providerKey } from './provider-key.ts';
import { readCreatedAt, readFields, readTaskId } from './reply-fields.ts';

const environment = readEnvironment('videoProvider');

const videoProvider: Provider = {
  name: 'video',
  url: environment.VIDEO_PROVIDER_URL,
  key: providerKey(environment.VIDEO_PROVIDER_KEY),
  keyHeader: environment.VIDEO_PROVIDER_KEY_HEADER,
  keyScheme: environment.VIDEO_PROVIDER_KEY_SCHEME,
  echoesRequest: true,
  readFault: ({ reason, message }) => ({
    text: message || reason,
    isOutOfCredits: reason === 'CreditInsufficient',
  }),
};

const ourPrefix = 'vid';
const theirPrefix = environment.VIDEO_PROVIDER_MODEL_PREFIX;
const RequiredFields = z.object({ state: taskFields.state, credits: taskFields.credits });

/** Starts a video task and answers with it; `Reply` says which of the provider's echoes are passed on. */
export async function startVideoTask(
  operation: 'text2video' | 'extend' | 'multiframe',
  request: { model?: string | undefined },
  Reply: { shape: Record<string, z.ZodMiniType> },
  limits: CallLimits,
): Promise<SerializedJson> {
  const body = { ...request, model: renamed(request.model, ourPrefix, theirPrefix) };
  const { required, echoes } = await callProvider(
    videoProvider,
    { path: `/${operation}`, body, ...limits },
    (reply) => readTask(reply, Reply.shape),
  );
  note({ credits: required.credits });
  return boundedObject(required, echoes);
}

function readTask(reply: JsonObject, shape: Record<string, z.ZodMiniType>) {
  const task_id = readTaskId(reply.task_id);
  const { data } = RequiredFields.safeParse(reply);
  if (task_id === undefined || data === undefined) return undefined;
  const required = { task_id, ...data, created_at: readCreatedAt(reply.created_at) };
  const { model, ...echoes } = readFields(shape, reply);
  for (const name of Object.keys(required)) delete echoes[name];
  return {
    required,
    echoes: {
      ...(typeof model === 'string' && { model: renamed(model, theirPrefix, ourPrefix) }),
      ...echoes,
    },
  };
}

/** The interface's model names begin with `vid`; a provider may spell that otherwise. */
function renamed(model: string | undefined, from: string, to: string): string | undefined {
  return model?.startsWith(from) ? to + model.slice(from.length) : model;
}
