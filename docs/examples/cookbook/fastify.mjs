// Fastify: the same receiver. Its own parser of JSON is replaced by one that leaves the text alone.
import { verifyNotification } from '@node-registry/registry-client/webhooks';
import fastify from 'fastify';

export function receiver(onFilm) {
  const app = fastify();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => done(null, body));
  app.post('/hook', async (request, reply) => {
    try {
      const { id, payload } = await verifyNotification(request.headers, request.body, process.env.PUBLIC_KEY);
      await onFilm(id, payload);
      return reply.code(204).send();
    } catch (error) {
      // Also if our key is wrong or our own work fails: it will be sent again.
      console.error(error.message);
      return reply.code(400).send();
    }
  });
  return app;
}
