import * as z from 'zod/mini';
import { text, webAddress } from './paid-fields.ts';
import { Timestamp } from '@node-registry/registry-rules/schemas/fields';
import type { VideoRules } from '../config.ts';
import { paidErrors, providerErrors } from '../errors.ts';

/** A listed model, or one that the operator added since this release. */
export function modelName(listed: readonly string[], { VIDEO_MODELS_EXTRA }: VideoRules) {
  return z.enum([...listed, ...VIDEO_MODELS_EXTRA]).with(z.describe('Model of the video provider'));
}

export const editingModels = ['vidq2-pro', 'vidq2-turbo'] as const;
export const editingResolution = z
  .enum(['540p', '720p', '1080p'])
  .with(z.describe('Resolution of the video'));

export const callbackUrl = webAddress.with(z.describe('Callback for task status updates'));
export const payload = text(1_048_576).with(z.describe('Pass-through parameters'));
export const videoPrompt = text(2000).with(z.describe('Describes the video'));

export const TaskState = z
  .enum(['created', 'processing', 'queueing', 'success', 'failed'])
  .with(z.describe('State of the task; success and failed are final'));
export type TaskState = z.infer<typeof TaskState>;

/** The fields of every response of a video operation. */
export const taskFields = {
  credits: z
    .int32()
    .with(z.describe('What the task costs; 0, without X-Credits-Used, if the provider names no price')),
  state: TaskState,
  task_id: z.string().with(z.describe('Unique identifier of the task at the provider')),
  created_at: Timestamp.with(z.describe('Creation time of the task')),
};

/** What the contracts of all video operations say. */
export const videoOperation = {
  method: 'POST',
  access: { userUnless: 'PROXY_ACCESS_TOKEN' },
  parameters: z.object({}),
  status: 200,
  errors: ['forbidden', ...paidErrors, ...providerErrors],
  notifies: { provider: 'video', field: 'callback_url' },
  idempotent: true,
} as const;

/** Their price, unless the operator's rates say another. */
export const pricePerSecond = {
  toldBy: 'reply',
  rate: { second: 50 },
  variesBy: ['model', 'resolution', 'seconds'],
} as const;
