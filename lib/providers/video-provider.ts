import { storedSecret } from '../aws/stored-secret.ts';
import type * as z from 'zod/mini';
import type { BoughtTask } from '../bought-task.ts';
import * as config from '../config.ts';
import type { JsonObject } from '../json-object.ts';
import { log, note } from '../log.ts';
import { taskFields } from '../schemas/video.ts';
import { type CallLimits, callProvider } from './call-provider.ts';
import type { Provider } from './provider.ts';
import { readCreatedAt, readCredits, readFields } from './reply-fields.ts';

/** A started video task: what every answer has, what the provider repeats of the request, and what was bought. */
export interface VideoTask {
  required: {
    task_id: string;
    state: z.infer<typeof taskFields.state>;
    credits: number;
    created_at: string;
  };
  echoes: JsonObject;
  bought: BoughtTask;
}

export interface VideoRequest {
  model?: string | undefined;
}

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

interface Operation {
  path: '/text2video' | '/extend' | '/multiframe';
  /** The reply fields of the interface; everything else in a reply is left out. */
  replyFields: Record<string, z.ZodMiniType>;
}

/** Starts a video task. Each operation has a file of its own, so that a function loads the schemas of only one. */
export async function startVideoTask(
  { path, replyFields }: Operation,
  request: VideoRequest,
  limits: CallLimits,
): Promise<VideoTask> {
  const body = { ...request, model: renamed(request.model, ourPrefix, theirPrefix()) };
  const { taskId, reply } = await callProvider(videoProvider(), { path, body, ...limits });
  const { state, credits } = readStateAndCredits(reply);
  const required = {
    task_id: taskId,
    state: state ?? 'created',
    credits: Math.min(credits ?? 0, maxInt32),
    created_at: readCreatedAt(reply.created_at),
  };
  return { required, echoes: readEchoes(replyFields, reply, body), bought: { taskId, credits } };
}

/** The maximum of `credits` in an answer, which the interface makes an int32. */
const maxInt32 = 2 ** 31 - 1;

/** The task is paid for, so a state or price that cannot be read must not keep its id from the caller. */
function readStateAndCredits(reply: JsonObject): Partial<Pick<VideoTask['required'], 'state' | 'credits'>> {
  const state = taskFields.state.safeParse(reply.state).data;
  const credits = readCredits(reply.credits);
  if (credits !== undefined) note({ credits });
  if (state === undefined || credits === undefined) {
    const unreadable = [state === undefined && 'state', credits === undefined && 'credits'].filter(Boolean);
    log('warn', 'provider_reply', { unreadable });
  }
  return { ...(state !== undefined && { state }), ...(credits !== undefined && { credits }) };
}

function readEchoes(replyFields: Operation['replyFields'], reply: JsonObject, sent: JsonObject): JsonObject {
  const { model, ...echoes } = readFields(replyFields, reply, sent);
  for (const name of Object.keys(taskFields)) delete echoes[name];
  return typeof model === 'string' ? { model: renamed(model, theirPrefix(), ourPrefix), ...echoes } : echoes;
}

/** The interface's model names begin with `vid`; a provider may spell that differently. */
function renamed(model: string | undefined, from: string, to: string): string | undefined {
  return model?.startsWith(from) ? to + model.slice(from.length) : model;
}
