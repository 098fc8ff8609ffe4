import { type JsonObject, maxAnswerBytes, SerializedJson, weightOf } from '../json.ts';
import { storedSecret } from '../aws/stored-secret.ts';
import type * as z from 'zod/mini';
import type { Contract } from '../contract.ts';
import * as config from '../config.ts';
import { log, note } from '../log.ts';
import { taskFields } from '../schemas/video.ts';
import { maxInt32, type Provider, type StartedTask } from './provider-call.ts';
import { readCreatedAt, readFields, readWord, stateOf } from './reply.ts';

/** The fields of every response, even if the provider's reply lacks some. */
type RequiredFields = z.infer<z.ZodMiniObject<typeof taskFields>>;

interface VideoRequest {
  model?: string | undefined;
}

/** This provider's operations differ only in the fields of their replies. */
type VideoContract = Contract & { reply: { shape: Record<string, z.ZodMiniType> } };

export const videoProvider = config.atStart((): Provider => {
  const environment = config.videoProvider();
  return {
    name: 'video',
    url: environment.VIDEO_PROVIDER_URL,
    key: storedSecret(environment.VIDEO_PROVIDER_KEY, 'header'),
    keyHeader: environment.VIDEO_PROVIDER_KEY_HEADER,
    echoesRequest: true,
  };
});

const ourPrefix = 'vid';

const theirPrefix = () => config.videoProvider().VIDEO_PROVIDER_MODEL_PREFIX;

/** A request for the provider, with its spelling of model names. */
function videoBody<Request extends VideoRequest>(request: Request): Request {
  return { ...request, model: renamed(request.model, ourPrefix, theirPrefix()) };
}

/**
 * Reads the reply to a video operation, with the fields of its contract. The task is paid for, so an
 * unreadable state or price must not keep its id from the caller.
 */
function videoReply(
  { task: { taskId, credits }, reply }: StartedTask,
  sent: object,
  { reply: { shape } }: VideoContract,
): SerializedJson {
  const word = readWord(reply.state ?? reply.status);
  const state = word === undefined ? undefined : stateOf(word);
  if (state === undefined || credits === undefined) {
    const unreadable = [state === undefined && 'state', credits === undefined && 'credits'].filter(Boolean);
    log('warn', 'provider_reply', { unreadable, ...(state === undefined && { provider_state: word }) });
  }
  // The interface requires credits: 0 stands for an unknown price. The ledger counts the ceiling.
  if (credits === undefined) note({ credits_are_ceiling: true });
  const required: RequiredFields = {
    task_id: taskId,
    state: state ?? 'created',
    credits: Math.min(credits ?? 0, maxInt32),
    created_at: readCreatedAt(reply.created_at),
  };
  return boundedObject(required, readEchoes(shape, reply, { ...sent }));
}

/** How all operations of this provider call it. */
export const videoCalls = { provider: videoProvider, body: videoBody, reply: videoReply };

function readEchoes(shape: VideoContract['reply']['shape'], reply: JsonObject, sent: JsonObject): JsonObject {
  const { model, ...echoes } = readFields(shape, reply, sent);
  for (const name of Object.keys(taskFields)) delete echoes[name];
  return typeof model === 'string' ? { model: renamed(model, theirPrefix(), ourPrefix), ...echoes } : echoes;
}

/** Writes an object within Lambda's limit. If it is too long, drops the largest of its optional fields. */
export function boundedObject(
  required: Record<string, unknown>,
  optional: Record<string, unknown>,
): SerializedJson {
  const whole = JSON.stringify({ ...required, ...optional });
  if (whole.length < maxAnswerBytes / 6) return new SerializedJson(whole);
  const weighed = Object.entries(optional)
    .map(([name, value]) => ({ name, value, weight: weightOf(JSON.stringify({ [name]: value })) }))
    .sort((a, b) => a.weight - b.weight);
  let left = maxAnswerBytes - weightOf(JSON.stringify(required));
  const fitting = weighed.filter(({ weight }) => {
    left -= weight;
    return left >= 0;
  });
  const kept = Object.fromEntries(fitting.map(({ name, value }) => [name, value]));
  return new SerializedJson(JSON.stringify({ ...required, ...kept }));
}

/** The interface's model names begin with `vid`; a provider may spell that differently. */
function renamed(model: string | undefined, from: string, to: string): string | undefined {
  return model?.startsWith(from) ? to + model.slice(from.length) : model;
}
