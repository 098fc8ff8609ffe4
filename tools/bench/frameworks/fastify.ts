import awsLambdaFastify from '@fastify/aws-lambda';
import Fastify from 'fastify';
import { path, Request, startTask } from '../alternatives/task.ts';

const app = Fastify();

app.post(path, async (request, reply) => {
  const parsed = Request.safeParse(request.body);
  return parsed.success ? startTask(parsed.data) : reply.code(400).send({ error: 'invalid_request' });
});

export const handler = awsLambdaFastify(app);
