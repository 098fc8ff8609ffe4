import { describe, expect, test } from '@jest/globals';
import { RelightRequest } from '../../../lib/schemas/relight.ts';
import { issuesIn } from '../../support/issues-in.ts';
import { choice, type Field, flag, percentage, url } from '../../support/media-fields.ts';

describe('the advanced settings of a relight', () => {
  const settings: Record<string, Field> = {
    whites: percentage,
    blacks: percentage,
    brightness: percentage,
    contrast: percentage,
    saturation: percentage,
    engine: choice(
      'automatic',
      'balanced',
      'cool',
      'real',
      'illusio',
      'fairy',
      'colorful_anime',
      'hard_transform',
      'softy',
    ),
    transfer_light_a: choice('automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'),
    transfer_light_b: choice(
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
    ),
    fixed_generation: flag,
  };

  test.each(Object.entries(settings))('have %s', (name, { taken, refused }) => {
    for (const value of taken) {
      const sent = { image: url, advanced_settings: { [name]: value } };
      expect(RelightRequest.parse(sent)).toMatchObject(sent);
    }
    for (const [value, message] of refused) {
      const sent = { image: url, advanced_settings: { [name]: value } };
      expect(issuesIn(RelightRequest, sent)).toEqual([`body.advanced_settings.${name} ${message}`]);
    }
  });
});

describe('a prompt of a relight', () => {
  const fault = 'body.prompt must weight phrases, as in (text:1.2), by 1 to 1.4';

  test.each([
    ['(light:1)'],
    ['(light:1.4)'],
    ['(light: 1.2 )'],
    ['(light:+1.)'],
    ['at 10:30'],
    ['a:9)'],
    ['(a):9)'],
    ['(a:b:1.2)'],
    ['(light:)'],
    ['(light:.)'],
    ['(a (b:1.2):1.3)'],
    ['(at 10:30 in the morning)'],
    ['(light:9e)'],
  ])('may be %j', (text) => {
    expect(issuesIn(RelightRequest, { image: url, prompt: text })).toEqual([]);
  });

  test.each([
    ['(light:0.9)'],
    ['(light:1.41)'],
    ['(light:-1.2)'],
    ['(light:.9)'],
    ['(light:.95)'],
    ['(light:12)'],
    ['(light:  1.5  )'],
    ['(light:1.25) and (shade:2)'],
    ['((a:1.5):1.2)'],
    ['(a (b:1.2):1.5)'],
    ['(a) (b:1.5)'],
    ['(light:10.25)'],
  ])('may not be %j', (text) => {
    expect(issuesIn(RelightRequest, { image: url, prompt: text })).toEqual([fault]);
  });
});

describe('both light sources', () => {
  const both = { transfer_light_from_lightmap: url, transfer_light_from_reference_image: url };
  const fault =
    'body.transfer_light_from_reference_image cannot be sent together with transfer_light_from_lightmap; send one of them';

  test('are refused together, whatever else is wrong', () => {
    expect(issuesIn(RelightRequest, { image: url, ...both })).toEqual([fault]);
    expect(issuesIn(RelightRequest, both)).toEqual(['body.image is required', fault]);
  });
});
