import { textToVideo } from '../../lib/contracts/text-to-video.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { startTask } from './endpoint-by-hand.ts';

/** Open to anyone and free: the endpoint written by hand reads no access token and counts no money. */
const { price: _, ...free } = textToVideo;

export const handler = endpoint({ ...free, access: 'anyone' }, async ({ body }) => ({
  body: startTask(body),
}));
