// Express: a receiver of notifications. The signature is over the raw body, so no parser comes before it.
import { verifyNotification } from '@node-registry/registry-client/webhooks';
import express from 'express';

export function receiver(onFilm) {
  const app = express();
  app.post('/hook', express.raw({ type: '*/*' }), async (request, response) => {
    try {
      const { id, payload } = await verifyNotification(request.headers, request.body, process.env.PUBLIC_KEY);
      await onFilm(id, payload);
      response.sendStatus(204);
    } catch (error) {
      // Also if our key is wrong or our own work fails: it will be sent again.
      console.error(error.message);
      response.sendStatus(400);
    }
  });
  return app;
}
