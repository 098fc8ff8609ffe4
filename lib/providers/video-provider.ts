import { boundedObject, type SerializedJson } from '../bounded-json.ts';
import type { Context } from '../context.ts';
import { storedSecret } from '../aws/stored-secret.ts';
import type * as z from 'zod/mini';
import type { Contract } from '../contract.ts';
import * as config from '../config.ts';
import type { JsonObject } from '../json.ts';
import { log, note } from '../log.ts';
import { taskFields } from '../schemas/video.ts';
import { ProviderCall, type StartedTask } from './provider-call.ts';
import type { Provider } from './exchange.ts';
import { readCreatedAt, readFields } from './reply.ts';

/** What every answer has, whatever the provider repeats of the request. */
type RequiredFields = z.infer<z.ZodMiniObject<typeof taskFields>>;

interface VideoRequest {
  model?: string | undefined;
}

/** The three operations differ in their contracts only: the path, and the fields of a reply. */
export type VideoContract = Contract & { reply: { shape: Record<string, z.ZodMiniType> } };

const videoProvider = config.atStart(
  config.configured((): Provider => {
    const environment = config.videoProvider();
    return {
      name: 'video',
      url: environment.VIDEO_PROVIDER_URL,
      key: storedSecret(environment.VIDEO_PROVIDER_KEY, 'header'),
      keyHeader: environment.VIDEO_PROVIDER_KEY_HEADER,
      keyScheme: environment.VIDEO_PROVIDER_KEY_SCHEME,
      echoesRequest: true,
    };
  }),
);

const ourPrefix = 'vid';

const theirPrefix = () => config.videoProvider().VIDEO_PROVIDER_MODEL_PREFIX;

/** The call that starts a video task. Our paths end as the provider's do. */
export function videoCall(
  context: Context,
  request: () => Promise<VideoRequest>,
  { path }: VideoContract,
): ProviderCall {
  const body = async () => {
    const sent = await request();
    return { ...sent, model: renamed(sent.model, ourPrefix, theirPrefix()) };
  };
  return new ProviderCall(videoProvider(), { path: path.slice(path.lastIndexOf('/')), body, context });
}

/** The task is paid for, so a state or price that cannot be read must not keep its id from the caller. */
export function videoReply(
  { task: { taskId, credits }, reply, ceiling }: StartedTask,
  sent: object,
  { reply: { shape } }: VideoContract,
): SerializedJson {
  const state = taskFields.state.safeParse(reply.state).data;
  if (credits !== undefined) note({ credits });
  if (state === undefined || credits === undefined) {
    const unreadable = [state === undefined && 'state', credits === undefined && 'credits'].filter(Boolean);
    log('warn', 'provider_reply', { unreadable });
  }
  // The interface requires credits. Without a price they are what the ledger counts, and X-Credits-Used is absent.
  if (credits === undefined && ceiling !== undefined) note({ credits_are_ceiling: true });
  const required: RequiredFields = {
    task_id: taskId,
    state: state ?? 'created',
    credits: Math.min(credits ?? ceiling ?? 0, maxInt32),
    created_at: readCreatedAt(reply.created_at),
  };
  return boundedObject(required, readEchoes(shape, reply, { ...sent }));
}

/** The interface makes `credits` of an answer an int32; what is counted is the whole price. */
const maxInt32 = 2 ** 31 - 1;

function readEchoes(shape: VideoContract['reply']['shape'], reply: JsonObject, sent: JsonObject): JsonObject {
  const { model, ...echoes } = readFields(shape, reply, sent);
  for (const name of Object.keys(taskFields)) delete echoes[name];
  return typeof model === 'string' ? { model: renamed(model, theirPrefix(), ourPrefix), ...echoes } : echoes;
}

/** The interface's model names begin with `vid`; a provider may spell that differently. */
function renamed(model: string | undefined, from: string, to: string): string | undefined {
  return model?.startsWith(from) ? to + model.slice(from.length) : model;
}
