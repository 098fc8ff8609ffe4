import { existsSync, readFileSync } from 'node:fs';
import { fileOf } from '../../infra/operations.ts';
import { bodySchema, type Contract } from '../../lib/contract.ts';
import * as config from '../../lib/config.ts';
import { errorCatalog, type ErrorCode } from '../../lib/errors.ts';
import { issueDetails } from '../../lib/http/read-request.ts';
import { type ErrorBody, errorBody } from '../../lib/schemas/error-body.ts';
import type { JsonObject } from '../../lib/json.ts';
import { sampleOf } from './samples.ts';

const requestId = '01J0ZK6Q8N4Y3V5T7R9P2M4W6X';

export interface Sample {
  path: Record<string, string>;
  /** Only what the operation can't do without. */
  query: Record<string, string>;
  body: JsonObject;
}

/** The request of an operation's sample event, the same that `invoke local` and the tests send. */
export function sampleRequest(contract: Contract): Sample {
  const { name, parameters, query } = contract;
  const event = new URL(`../../events/${fileOf(name)}.json`, import.meta.url);
  if (!existsSync(event))
    return {
      path: sampleOf(parameters, name, 'input') as Sample['path'],
      query: (query?.safeParse({}).success === false
        ? sampleOf(query, name, 'input')
        : {}) as Sample['query'],
      body: sampleOf(bodySchema(contract, config.videoRules), name, 'input') as JsonObject,
    };
  const { pathParameters, body } = JSON.parse(readFileSync(event, 'utf8'));
  return { path: pathParameters ?? {}, query: {}, body: JSON.parse(body) };
}

/** An error as the service returns it, with the catalog's own sentence. */
export function sampleError(code: ErrorCode): ErrorBody {
  return errorBody(code, errorCatalog[code].message, requestId);
}

/** The service's real response to the sample request with a wrong type in its first field. */
export function sampleIssues(contract: Contract): ErrorBody {
  const { body } = sampleRequest(contract);
  const [[field, value] = ['', '']] = Object.entries(body);
  const broken = { ...body, [field]: typeof value === 'string' ? 7 : 'seven' };
  const { error } = bodySchema(contract, config.videoRules).safeParse(broken);
  return {
    ...sampleError('invalid_request'),
    details: issueDetails([{ root: 'body', error, input: broken }]),
  };
}
