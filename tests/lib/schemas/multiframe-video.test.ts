import { expect, test } from '@jest/globals';
import { secondsOfFrames } from '../../../lib/schemas/multiframe-video.ts';

test.each([
  [[5, 7, 2], 14],
  [[5, undefined, 2], undefined],
  [[undefined], undefined],
  [[], 0],
])('the seconds of a multi-frame task with the durations %j are %p', (durations, seconds) => {
  expect(secondsOfFrames({ image_settings: durations.map((duration) => ({ duration })) })).toBe(seconds);
});
