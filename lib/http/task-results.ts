import type { APIGatewayProxyEventV2, Context as Invocation } from 'aws-lambda';
import { jsonAnswer } from '../answer.ts';
import { admit } from '../auth/access-tokens.ts';
import { callerName } from '../caller.ts';
import type { ProviderName } from '../config.ts';
import { requestContext } from '../context.ts';
import type { RelightReply } from '../contracts/relight-image.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { readTaskResult } from '../notifications/task-results.ts';
import { isTaskId, relightStatusOf } from '../providers/reply.ts';
import type { CreationsReply } from '../schemas/task-results.ts';
import { gatewayHandler } from './gateway-handler.ts';

/**
 * The paths at which clients of the providers ask for the result of a task that they bought here. It calls no
 * provider: it answers from what the provider has told. A client takes a 404 for the end of the task, so a
 * task without any report is `created`.
 */
export const taskResults = gatewayHandler('taskResults', answer);

async function answer(event: APIGatewayProxyEventV2, invocation: Invocation) {
  const { caller } = await admit({ userUnless: 'PROXY_ACCESS_TOKEN' }, event.headers.authorization);
  const taskId = event.pathParameters?.task_id;
  const provider: ProviderName = event.routeKey.includes('/image-provider/') ? 'image' : 'video';
  note({ task_id: taskId });
  // Without a token, all callers are one, and would read each other's results.
  if (!caller || !isTaskId(taskId)) throw new ApiError('task_not_found');
  const name = { caller: callerName(caller), provider, taskId };
  const result = await readTaskResult(requestContext(invocation), name);
  if (!result) throw new ApiError('task_not_found');
  const { state, said } = result;
  note({ task_state: state });
  if (provider === 'image') {
    const data = { task_id: taskId, status: relightStatusOf[state], generated: said?.media ?? [] };
    return jsonAnswer(200, { data } satisfies RelightReply);
  }
  const films = said?.media.map((url) => ({ id: taskId, url, cover_url: '' })) ?? [];
  const creations = said?.creations.length ? said.creations : films;
  const err_code = state === 'failed' ? (said?.errorCode ?? '') : '';
  return jsonAnswer(200, { id: taskId, state, err_code, creations } satisfies CreationsReply);
}
