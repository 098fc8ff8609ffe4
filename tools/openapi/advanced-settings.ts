import type { JsonObject } from '../../lib/json.ts';

/** The values known today. The service forwards the settings unchanged, so every list is open. */
const engines = [
  ...['automatic', 'balanced', 'cool', 'real', 'illusio', 'fairy', 'colorful_anime', 'hard_transform'],
  'softy',
];
const lightsA = ['automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'];
const lightsB = [
  ...['automatic', 'composition', 'straight', 'smooth_in', 'smooth_out', 'smooth_both', 'reverse_both'],
  ...['soft_in', 'soft_out', 'soft_mid', 'strong_mid', 'style_shift', 'strong_shift'],
];

/** The interface doesn't restrict a setting's value; the provider checks it. */
const anything: JsonObject = { description: 'Any other value, if the provider takes it' };

export const advancedSettings: JsonObject = {
  type: ['object', 'null'],
  description:
    'Settings of the provider, forwarded as they are. The listed names and values are the ones known today; the provider may take others',
  properties: {
    blacks: percentage('Blacks'),
    brightness: percentage('Brightness'),
    contrast: percentage('Contrast'),
    engine: openList('Relight engine', engines),
    fixed_generation: {
      description: 'Whether equal requests give equal images',
      anyOf: [{ type: 'boolean' }, anything],
    },
    saturation: percentage('Saturation'),
    transfer_light_a: openList('How much light is transferred', lightsA),
    transfer_light_b: openList('How light is transferred', lightsB),
    whites: percentage('Whites'),
  },
  additionalProperties: true,
};

function percentage(name: string): JsonObject {
  return { description: name, anyOf: [{ type: 'integer', minimum: 0, maximum: 100 }, anything] };
}

function openList(description: string, values: readonly string[]): JsonObject {
  return { description, anyOf: [{ type: 'string', enum: values }, anything] };
}
