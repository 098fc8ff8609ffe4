import { textToVideo } from '../../../lib/contracts/text-to-video.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { startTask } from './task.ts';

/** Open to anyone and free, like the alternatives: none of them reads an access token or counts money. */
const { paid: _, ...free } = textToVideo;

export const handler = endpoint({ ...free, access: 'anyone' }, async ({ body }) => ({
  body: startTask(body),
}));
