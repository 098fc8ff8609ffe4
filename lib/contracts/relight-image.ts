import * as z from 'zod/mini';
import * as config from '../config.ts';
import { contract } from '../contract.ts';
import { type Deployed, proxyDeployment } from '../deployment.ts';
import { paidErrors, providerErrors } from '../errors.ts';
import { isObject } from '../json.ts';
import { added } from '@node-registry/registry-rules/schemas/fields';
import {
  evenIfFieldsFail,
  imageSource,
  optional,
  paidObject,
  webAddress,
  withDefault,
} from '../schemas/paid-fields.ts';

const styles = [
  'standard',
  'darker_but_realistic',
  'clean',
  'smooth',
  'brighter',
  'contrasted_n_hdr',
  'just_composition',
] as const;

const percentage = z.int().check(z.minimum(0), z.maximum(100));

/** Forwarded unchanged, so a new setting of the provider doesn't need a release of this service. */
const advancedSettings = z.unknown().check(z.refine(isObject, 'must be an object'));

const minWeight = 1;
const maxWeight = 1.4;

export const RelightRequest = paidObject({
  image: imageSource.with(z.describe('Base64 data or URL of the image')),
  advanced_settings: optional(advancedSettings).with(
    z.describe('Settings of the provider, forwarded as they are'),
  ),
  change_background: withDefault(z.boolean(), true).with(
    z.describe('Changes the background based on prompt and/or reference image'),
  ),
  interpolate_from_original: withDefault(z.boolean(), false).with(
    z.describe('Final image interpolates from the original using light_transfer_strength'),
  ),
  light_transfer_strength: withDefault(percentage, 100).with(
    z.describe('0 stays closest to the original, 100 is maximum transfer'),
  ),
  preserve_details: withDefault(z.boolean(), true).with(z.describe('Keeps texture and small details')),
  prompt: optional(
    z
      .string()
      .check(
        z.refine(
          (prompt) => weightsIn(prompt).every((weight) => weight >= minWeight && weight <= maxWeight),
          `must weight phrases, as in (text:1.2), by ${minWeight} to ${maxWeight}; if the number isn’t a weight, leave the parentheses out`,
        ),
      )
      .with(z.describe('Guides generation; (text:weight) weights a phrase by 1 to 1.4')),
  ),
  style: withDefault(z.enum(styles), 'standard').with(z.describe('Style of the light')),
  transfer_light_from_lightmap: optional(
    imageSource.with(z.describe('Base64 data or URL; incompatible with transfer_light_from_reference_image')),
  ),
  transfer_light_from_reference_image: optional(
    imageSource.with(z.describe('Base64 data or URL; incompatible with transfer_light_from_lightmap')),
  ),
  webhook_url: optional(webAddress.with(z.describe('Receives notifications when the task changes status'))),
}).check(
  z.refine(
    (request) => !request.transfer_light_from_lightmap || !request.transfer_light_from_reference_image,
    {
      path: ['transfer_light_from_reference_image'],
      error: 'cannot be sent together with transfer_light_from_lightmap; send one of them',
      ...evenIfFieldsFail,
    },
  ),
);
export type RelightRequest = z.infer<typeof RelightRequest>;

export const RelightStatus = z
  .enum(['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'])
  .with(added('State of the task; the last two are final'));
export type RelightStatus = z.infer<typeof RelightStatus>;

export const RelightReply = z
  .object({
    data: z
      .object({
        generated: z
          .array(z.string())
          .with(z.describe('URLs of the generated images; empty while the task runs')),
        task_id: z.string().with(z.describe('Unique identifier of the task at the provider')),
        status: RelightStatus,
      })
      .with(z.describe('The task')),
  })
  .with(z.meta({ id: 'RelightReply' }));
export type RelightReply = z.infer<typeof RelightReply>;

/** A weight has at most one digit before its point: (iso:400) and (at 12:30) are words. */
const parenthesisOrWeight = /\(|(?::\s*(\d(?:\.\d+)?|\.\d+)\s*)?\)/g;

/**
 * Returns the weights of all `(text:weight)` phrases, including nested ones. A colon outside parentheses doesn't begin a
 * weight. Neither does one after text without a letter: (3:2) is a ratio.
 */
function weightsIn(prompt: string): number[] {
  const weights: number[] = [];
  const open: number[] = [];
  let [end, textsWithLetters] = [0, 0];
  for (const { 0: token, 1: weight, index } of prompt.matchAll(parenthesisOrWeight)) {
    if (/\p{L}/u.test(prompt.slice(end, index))) textsWithLetters += 1;
    end = index + token.length;
    if (token === '(') open.push(textsWithLetters);
    else {
      const before = open.pop();
      if (before !== undefined && weight !== undefined && textsWithLetters > before)
        weights.push(Number(weight));
    }
  }
  return weights;
}

export const relightImage = contract({
  name: 'relightImage',
  method: 'POST',
  path: '/proxy/image-provider/v1/ai/image-relight',
  summary: 'Relight an image',
  description:
    'Starts a relight task at the image provider. Each change of its status is sent to webhook_url, if given.',
  access: 'user',
  parameters: z.object({}),
  body: RelightRequest,
  asWritten: ['advanced_settings'],
  reply: RelightReply,
  status: 200,
  errors: ['forbidden', ...paidErrors, ...providerErrors],
  price: { toldBy: 'rate', rate: { task: 1 }, variesBy: [] },
  notifies: { provider: 'image', field: 'webhook_url' },
  idempotent: true,
});

export const deployedRelightImage: Deployed<typeof relightImage> = {
  contract: relightImage,
  deployment: () => ({
    ...proxyDeployment(config.imageProvider),
    sampleReply: {
      data: { task_id: '046b6c7f-0b8a-43b9-b35d-6489e6daee91', status: 'CREATED', generated: [] },
    },
  }),
};
