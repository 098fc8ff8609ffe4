import type { APIGatewayProxyEventV2, Context as Invocation } from 'aws-lambda';
import { requestContext } from '../context.ts';
import * as config from '../config.ts';
import { ApiError } from '../errors.ts';
import { note } from '../log.ts';
import { hashPrefix, taskHash } from '../notifications/records.ts';
import { takeReport } from '../notifications/store-report.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import { gatewayHandler } from './gateway-handler.ts';
import { textOf } from './json-body.ts';

const secretShape = /^[\w-]{43}$/;

/**
 * Receives a provider's notification. A rejected call gets the response of an unknown path: it reveals
 * nothing, and a provider that was rejected by mistake calls again. Logs only the reason, never the path: its
 * URL is secret.
 */
export const receiveNotification = gatewayHandler('receiveNotification', takeCall);

async function takeCall(event: APIGatewayProxyEventV2, invocation: Invocation): Promise<Answer> {
  if (config.notifications().NOTIFICATIONS !== 'relay') throw rejection('switched_off');
  const { provider, task: secret = '' } = event.pathParameters ?? {};
  if (!config.isProviderName(provider)) throw rejection('provider');
  if (!secretShape.test(secret)) throw rejection('task');
  const hash = taskHash(secret);
  const body = textOf(event.body ?? '', event.isBase64Encoded);
  if (body === undefined) throw rejection('not_utf8');
  const report = { provider, taskHash: hash, secret, body };
  const receipt = await takeReport(requestContext(invocation), report).catch(rejectOrTryAgain);
  if (receipt.result === 'rejected') throw rejection(receipt.reason);
  const { result, state } = receipt;
  note({ notification: result, task_hash: hashPrefix(hash), task_state: state });
  return jsonAnswer(200, {});
}

/** A lost race isn't the provider's mistake, so it gets a response that makes it call again. */
function rejectOrTryAgain(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  // Its own response would reveal that the secret is valid.
  if (error.code === 'record_too_large') throw rejection(error.code);
  throw error.code === 'conflict' ? new ApiError('unavailable', { cause: error }) : error;
}

function rejection(reason: string): ApiError {
  return new ApiError('route_not_found', { reason });
}
