import express from 'express';
import serverless from 'serverless-http';
import { path, Request, startTask } from '../alternatives/task.ts';

const app = express();

app.use(express.json());
app.post(path, (request, response) => {
  const parsed = Request.safeParse(request.body);
  if (parsed.success) response.json(startTask(parsed.data));
  else response.status(400).json({ error: 'invalid_request' });
});

export const handler = serverless(app);
