import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { validator } from 'hono/validator';
import { path, Request, startTask } from '../alternatives/task.ts';

const app = new Hono();
const check = validator('json', (value, context) => {
  const parsed = Request.safeParse(value);
  return parsed.success ? parsed.data : context.json({ error: 'invalid_request' }, 400);
});

app.post(path, check, (context) => context.json(startTask(context.req.valid('json'))));

export const handler = handle(app);
