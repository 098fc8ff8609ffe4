import { Router } from '@aws-lambda-powertools/event-handler/http';
import type { Context } from 'aws-lambda';
import { path, Request, startTask } from '../alternatives/task.ts';

const app = new Router();

app.post(path, ({ valid }) => startTask(valid.req.body), { validation: { req: { body: Request } } });

export const handler = async (event: unknown, context: Context) => app.resolve(event, context);
