import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { configure } from '../../../lib/config.ts';
import { ceilingOf } from '../../../lib/spend/reservation.ts';
import { videoFormat } from '../../../tools/simulators/video-format.ts';

/* The default ceilings are what docs/spending.md derives: 50 credits for each second that a request asks for. */

const { params } = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent' });

describe('the default of creditCeilings', () => {
  beforeEach(() => {
    configure({ CREDIT_CEILINGS: params.default.creditCeilings });
  });

  test.each([
    [undefined, 16],
    ['vidq3-pro', 16],
    ['vidq2-pro-fast', 10],
    ['vidq2-pro', 8],
    ['vidq2-turbo', 8],
  ])('counts for the model %s %d seconds of a text to video that names none', (model, seconds) => {
    expect(ceilingOf({ operation: 'textToVideo', model })).toBe(10 + 50 * seconds);
    expect(ceilingOf({ operation: 'textToVideo', model, seconds: 1 })).toBe(60);
  });

  test('follows the seconds of an extension and of key frames', () => {
    expect(ceilingOf({ operation: 'extendVideo', seconds: 5 })).toBe(250);
    expect(ceilingOf({ operation: 'multiframeVideo', frames: 3, seconds: 9 })).toBe(450);
    expect(ceilingOf({ operation: 'multiframeVideo', frames: 9 })).toBe(50 * 63);
    expect(ceilingOf({ operation: 'relightImage' })).toBe(1);
  });
});

test('leaves room on the local stack for the most expensive tasks of its simulators', () => {
  configure({ CREDIT_CEILINGS: params.local.creditCeilings });

  for (const seconds of [1, 5, 16])
    expect(ceilingOf({ operation: 'textToVideo', seconds })).toBe(
      videoFormat.creditsOf({ duration: seconds, is_rec: true }),
    );
  expect(ceilingOf({ operation: 'extendVideo', seconds: 7 })).toBe(videoFormat.creditsOf({ duration: 7 }));
  expect(ceilingOf({ operation: 'multiframeVideo', frames: 9 })).toBe(20);
});
