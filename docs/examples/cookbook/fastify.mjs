// Fastify: the same receiver. Its own parser of JSON is replaced by one that leaves the text alone.
import { InvalidNotification, verifyNotification } from '@node-registry/registry-client/webhooks';
import fastify from 'fastify';

export function receiver(onFilm) {
  const app = fastify();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => done(null, body));
  app.post('/hook', async (request, reply) => {
    const checked = await verifyNotification(request.headers, request.body, process.env.PUBLIC_KEY).catch(
      (error) => error,
    );
    if (checked instanceof InvalidNotification) return reply.code(400).send();
    onFilm(checked.id, checked.payload);
    return reply.code(204).send();
  });
  return app;
}
