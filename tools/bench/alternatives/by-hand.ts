import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { Request, startTask } from './task.ts';

/** The minimum of the endpoint. Every framework adds to this. */
export async function handler(event: APIGatewayProxyEventV2) {
  const request = Request.parse(JSON.parse(String(event.body)));
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(startTask(request)),
  };
}
