import { textToVideo } from '../../../lib/contracts/text-to-video.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { startTask } from './task.ts';

/** Open to anyone, like the alternatives: none of them reads an access token. */
export const handler = endpoint({ ...textToVideo, access: 'anyone' }, async ({ body }) => ({
  body: startTask(body),
}));
