import * as z from 'zod/mini';
import { evenIfFieldsFail, imageSource, optional, webAddress, withDefault } from './media.ts';
import { paidObject } from './paid-object.ts';

const styles = [
  'standard',
  'darker_but_realistic',
  'clean',
  'smooth',
  'brighter',
  'contrasted_n_hdr',
  'just_composition',
] as const;

const engines = [
  'automatic',
  'balanced',
  'cool',
  'real',
  'illusio',
  'fairy',
  'colorful_anime',
  'hard_transform',
  'softy',
] as const;

const lightTransfersA = ['automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'] as const;

const lightTransfersB = [
  'automatic',
  'composition',
  'straight',
  'smooth_in',
  'smooth_out',
  'smooth_both',
  'reverse_both',
  'soft_in',
  'soft_out',
  'soft_mid',
  'strong_mid',
  'style_shift',
  'strong_shift',
] as const;

const percentage = z.int().check(z.minimum(0), z.maximum(100));

const AdvancedSettings = paidObject({
  whites: optional(percentage),
  blacks: optional(percentage),
  brightness: optional(percentage),
  contrast: optional(percentage),
  saturation: optional(percentage),
  engine: optional(z.enum(engines)),
  transfer_light_a: optional(z.enum(lightTransfersA)),
  transfer_light_b: optional(z.enum(lightTransfersB)),
  fixed_generation: optional(z.boolean()),
});

const minWeight = 1;
const maxWeight = 1.4;

export const RelightRequest = paidObject({
  image: imageSource.with(z.describe('Base64 data or URL of the image')),
  advanced_settings: optional(AdvancedSettings),
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
          `must weight phrases, as in (text:1.2), by ${minWeight} to ${maxWeight}`,
        ),
      )
      .with(z.describe('Guides generation; (text:weight) weights a phrase by 1 to 1.4')),
  ),
  style: withDefault(z.enum(styles), 'standard'),
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

export const RelightStatus = z.enum(['CREATED', 'IN_PROGRESS', 'COMPLETED', 'FAILED']);

export const RelightReply = z
  .object({
    data: z.object({
      generated: z
        .array(z.string())
        .with(z.describe('URLs of the generated images; empty while the task runs')),
      task_id: z.string(),
      status: RelightStatus,
    }),
  })
  .with(z.meta({ id: 'RelightReply' }));
export type RelightReply = z.infer<typeof RelightReply>;

const parenthesisOrWeight = /\(|(?::\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*)?\)/gi;

/** A number of its own before the colon and a whole one after it are a ratio or a time: (16:9), (at 12:30). */
const endsInNumber = /[^\w.]\d{1,9}(?:\.\d{1,9})?$/;
const wholeNumber = /^\d+$/;
const maxNumberLength = 20;

/** The weights of all `(text:weight)` phrases, nested ones included. A colon outside parentheses weights nothing. */
function weightsIn(prompt: string): number[] {
  const weights: number[] = [];
  let depth = 0;
  for (const { 0: token, 1: weight, index } of prompt.matchAll(parenthesisOrWeight)) {
    if (token === '(') depth += 1;
    else if (depth > 0) {
      depth -= 1;
      if (weight === undefined) continue;
      const before = prompt.slice(Math.max(0, index - maxNumberLength), index);
      const isRatio = wholeNumber.test(weight) && endsInNumber.test(before);
      if (!isRatio) weights.push(Number(weight));
    }
  }
  return weights;
}
