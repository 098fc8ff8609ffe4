import { expect, test } from '@jest/globals';
import { secondsOfFrames } from '../../../lib/contracts/multiframe-video.ts';

test.each([
  [[5, 7, 2], 14],
  [[2.5, 7.25], 10],
  [[5, 0], undefined],
  [[1e300, 1], 2 ** 31 - 1],
  [[5, undefined, 2], undefined],
  [[20, -15], undefined],
  [[undefined], undefined],
  [[], 0],
])('sums the durations %j of a multi-frame task to %p seconds', (durations, seconds) => {
  expect(secondsOfFrames({ image_settings: durations.map((duration) => ({ duration })) })).toBe(seconds);
});
