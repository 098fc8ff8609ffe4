import * as z from 'zod/mini';
import { contract } from '../contract.ts';
import { paidErrors, providerErrors } from '../errors.ts';
import { RelightReply, RelightRequest } from '../schemas/relight.ts';

export const relightImage = contract({
  name: 'relightImage',
  method: 'POST',
  path: '/proxy/image-provider/v1/ai/image-relight',
  summary: 'Relight an image',
  description:
    'Starts a relight task at the image provider. Each change of its status is notified to webhook_url when given.',
  access: 'user',
  parameters: z.object({}),
  body: RelightRequest,
  freeForm: { field: 'advanced_settings' },
  reply: RelightReply,
  status: 200,
  errors: [...paidErrors, ...providerErrors],
  paid: 'by price',
  notifies: { provider: 'image', field: 'webhook_url' },
  idempotent: true,
});
