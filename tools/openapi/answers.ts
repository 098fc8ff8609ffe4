import { STATUS_CODES } from 'node:http';
import type { Contract } from '../../lib/contract.ts';
import { type ErrorCode, errorCatalog, paidErrors, providerErrors } from '../../lib/errors.ts';
import { sampleError, sampleIssues } from './examples.ts';
import { headerReferences, headersOfStatus } from './headers.ts';
import type { JsonObject } from './json.ts';
import { sampleReplies } from './replies.ts';
import { reference, replyName } from './schemas.ts';

/** All answers of an operation by status: its success, and each error that it can give with its codes. */
export function describeAnswers(contract: Contract): JsonObject {
  const codes = errorsOf(contract);
  const statuses = [...new Set(codes.map((code) => errorCatalog[code].status))].sort((a, b) => a - b);
  const refusals = statuses.map((status) => [
    status,
    {
      $ref: `#/components/responses/${responseName(status)}`,
      description: sentencesOf(codes.filter((code) => errorCatalog[code].status === status)),
    },
  ]);
  return {
    [contract.status]: success(contract),
    ...Object.fromEntries(refusals),
    default: { $ref: '#/components/responses/GatewayAnswer' },
  };
}

/** Every code that an operation can return. */
export function errorsOf(contract: Contract): ErrorCode[] {
  return [
    'invalid_request',
    ...(contract.access === 'anyone' ? [] : (['unauthorized'] as const)),
    ...contract.errors,
    ...(contract.idempotent ? (['idempotency_in_flight', 'idempotency_mismatch'] as const) : []),
    // Only a request that is sent to a provider can have an unknown outcome.
    ...(contract.idempotent && contract.paid ? (['idempotency_consumed'] as const) : []),
    'request_too_large',
    'unsupported_media_type',
    'internal_error',
    'unavailable',
  ];
}

/** One example for each code of the catalog that is used; the answers refer to them. */
export function errorExamples(contracts: readonly Contract[]): JsonObject {
  const used = new Set(contracts.flatMap(errorsOf));
  const examples = [...used].sort().map((code) => [code, { value: sampleError(code) }]);
  const [contract] = contracts;
  return {
    ...Object.fromEntries(examples),
    ...(contract && { invalid_request: { value: sampleIssues(contract) } }),
  };
}

function success(contract: Contract): JsonObject {
  const headers = [
    'x-request-id',
    ...(contract.headers?.reply ?? []),
    ...(contract.idempotent ? ['Idempotent-Replayed'] : []),
    ...(contract.paid ? [...budgetHeaders, 'X-Credits-Used', 'Link'] : []),
  ];
  const sample = { value: sampleReplies[contract.name] };
  return {
    description: contract.status === 201 ? 'Registered' : 'Done',
    headers: headerReferences(headers),
    content: { 'application/json': { schema: reference(replyName(contract)), examples: { sample } } },
  };
}

const budgetHeaders = ['RateLimit-Policy', 'RateLimit'];

/** One response for each status, which all operations share, with an example of each code. */
export function errorResponses(contracts: readonly Contract[]): JsonObject {
  const used = [...new Set(contracts.flatMap(errorsOf))];
  const statuses = [...new Set(used.map((code) => errorCatalog[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = used.filter((code) => errorCatalog[code].status === status);
      return [responseName(status), errorResponse(status, codes)];
    }),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[]): JsonObject {
  const known: readonly ErrorCode[] = [...paidErrors, ...providerErrors];
  // Once a caller's account was read, every response states the remaining limits.
  const budget = codes.some((code) => known.includes(code)) ? budgetHeaders : [];
  return {
    description: sentencesOf(codes),
    headers: headerReferences([...headersOfStatus(status), ...budget]),
    content: {
      'application/json': {
        schema: reference('ErrorBody'),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** Named by its status, as `Conflict409`. */
function responseName(status: number): string {
  return `${(STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '')}${status}`;
}

function sentencesOf(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\`: ${asMarkdown(errorCatalog[code].message)}`).join('\n\n');
}

/** A viewer would take `<token>` for an HTML tag and leave it out. */
function asMarkdown(sentence: string): string {
  return sentence.replaceAll('<', '&lt;');
}
