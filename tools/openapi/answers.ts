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
    refusal(
      contract,
      status,
      codes.filter((code) => errorCatalog[code].status === status),
    ),
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
  used.delete('invalid_request');
  return Object.fromEntries([...used].sort().map((code) => [code, { value: sampleError(code) }]));
}

function success(contract: Contract): JsonObject {
  const headers = [
    'x-request-id',
    ...(contract.headers?.reply ?? []),
    ...(contract.idempotent ? ['Idempotent-Replayed'] : []),
    ...(contract.paid ? [...budgetHeaders, 'X-Credits-Used'] : []),
  ];
  const sample = { value: sampleReplies[contract.name] };
  return {
    description: contract.status === 201 ? 'Registered' : 'Done',
    headers: headerReferences(headers),
    content: { 'application/json': { schema: reference(replyName(contract)), examples: { sample } } },
  };
}

const budgetHeaders = ['RateLimit-Policy', 'RateLimit'];

/** Once the caller's account was read, every response states the remaining limits. */
function saysBudget({ paid }: Contract, codes: readonly ErrorCode[]): boolean {
  const known: readonly ErrorCode[] = [...paidErrors, ...providerErrors];
  return paid !== undefined && codes.some((code) => known.includes(code));
}

function refusal(contract: Contract, status: number, codes: ErrorCode[]): JsonObject {
  const examples = codes.map((code) => [
    code,
    code === 'invalid_request'
      ? { value: sampleIssues(contract) }
      : { $ref: `#/components/examples/${code}` },
  ]);
  return {
    description: codes.map((code) => `\`${code}\`: ${asMarkdown(errorCatalog[code].message)}`).join('\n\n'),
    headers: headerReferences([
      ...headersOfStatus(status),
      ...(saysBudget(contract, codes) ? budgetHeaders : []),
    ]),
    content: {
      'application/json': {
        schema: { allOf: [reference('Error'), { properties: { error: { enum: codes } } }] },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** A viewer would take `<token>` for an HTML tag and leave it out. */
function asMarkdown(sentence: string): string {
  return sentence.replaceAll('<', '&lt;');
}
