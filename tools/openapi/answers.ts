import { STATUS_CODES } from 'node:http';
import type { Contract } from '../../lib/contract.ts';
import { type ErrorCode, errorCatalog, paidErrors, providerErrors } from '../../lib/errors.ts';
import { sampleError, sampleIssues } from './examples.ts';
import { headerReferences, headersOfStatus } from './headers.ts';
import type { JsonObject } from '../../lib/json.ts';
import { reference, replyName } from './schemas.ts';
import { resultContracts } from './task-results.ts';
import { type Operation, selfServiceContracts } from '../../infra/operations.ts';

/** All responses of an operation by status: its success, and each possible error with its codes. */
export function describeAnswers(operation: Described, contracts: readonly Contract[]): JsonObject {
  const { contract } = operation;
  const responses = codesByStatus(contract).map((codes) => [
    statusOf(codes),
    { $ref: `#/components/responses/${responseName(codes, contracts)}` },
  ]);
  return {
    [contract.status]: success(operation),
    ...Object.fromEntries(responses),
    default: { $ref: '#/components/responses/GatewayAnswer' },
  };
}

export function errorsOf(contract: Contract): ErrorCode[] {
  return [
    // Any text may be the id of a task.
    ...(resultContracts.includes(contract) ? [] : (['invalid_request'] as const)),
    ...(contract.access === 'anyone' ? [] : (['unauthorized'] as const)),
    ...contract.errors,
    ...(contract.idempotent ? (['idempotency_in_flight', 'idempotency_mismatch'] as const) : []),
    // Only a request that is sent to a provider can have an unknown outcome.
    ...(contract.idempotent && contract.price ? (['idempotency_consumed'] as const) : []),
    ...(contract.body ? (['request_too_large', 'unsupported_media_type'] as const) : []),
    'internal_error',
    'unavailable',
  ];
}

/** One example for each used code of the catalog; the responses refer to them. */
export function errorExamples(contracts: readonly Contract[]): JsonObject {
  const used = new Set(contracts.flatMap(errorsOf));
  const examples = [...used].sort().map((code) => [code, { value: sampleError(code) }]);
  const [contract] = contracts;
  return {
    ...Object.fromEntries(examples),
    ...(contract && { invalid_request: { value: sampleIssues(contract) } }),
  };
}

export type Described = Pick<Operation, 'contract' | 'sampleReply'>;

function success({ contract, sampleReply }: Described): JsonObject {
  const headers = [
    'x-request-id',
    ...(contract.body ? ['X-Ignored-Fields'] : []),
    ...(contract.headers?.reply ?? []),
    ...(contract.idempotent ? ['Idempotent-Replayed'] : []),
    ...(contract.price ? [...budgetHeaders, 'X-Credits-Used', 'Link'] : []),
  ];
  const description = contract.status === 201 ? 'Registered' : 'Done';
  if (!contract.reply) return { description, headers: headerReferences(headers) };
  const examples = sampleReply !== undefined && { examples: { sample: { value: sampleReply } } };
  return {
    description,
    headers: headerReferences(headers),
    content: { 'application/json': { schema: reference(replyName(contract)), ...examples } },
  };
}

/** The task may have started, so it has a status. */
const ofUnknownOutcome: readonly ErrorCode[] = [
  'idempotency_consumed',
  'provider_failed',
  'provider_invalid_reply',
  'provider_timeout',
];

const budgetHeaders = ['RateLimit-Policy', 'RateLimit'];

/**
 * One response for each code, shared by all operations. OpenAPI has one response for each status, so codes
 * that an operation has under one status share one.
 */
export function errorResponses(contracts: readonly Contract[]): JsonObject {
  const responses = contracts
    .flatMap(codesByStatus)
    .map((codes) => [responseName(codes, contracts), errorResponse(codes)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(responses);
}

type Codes = readonly ErrorCode[];

/** The codes of an operation by status, in the catalog's order. */
function codesByStatus(contract: Contract): Codes[] {
  const codes = errorsOf(contract);
  const inOrder = (Object.keys(errorCatalog) as ErrorCode[]).filter((code) => codes.includes(code));
  return Object.values(Object.groupBy(inOrder, (code) => errorCatalog[code].status)) as Codes[];
}

function statusOf([code = 'internal_error']: Codes): number {
  return errorCatalog[code].status;
}

function errorResponse(codes: Codes): JsonObject {
  const known: readonly ErrorCode[] = [...paidErrors, ...providerErrors];
  // Once a caller's account was read, every response states the remaining limits.
  const budget = codes.some((code) => known.includes(code)) ? budgetHeaders : [];
  const link = codes.some((code) => ofUnknownOutcome.includes(code)) ? ['Link'] : [];
  return {
    description: sentencesOf(codes),
    headers: headerReferences([...headersOfStatus(statusOf(codes)), ...budget, ...link]),
    content: {
      'application/json': {
        // Next to the reference and not in an `allOf`, because generators make up names for that.
        schema: { ...reference('ErrorBody'), properties: { error: { enum: codes } } },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** A code's own name; or, for several codes of one status, the names of their operations and the status. */
function responseName(codes: Codes, contracts: readonly Contract[]): string {
  const [code = 'internal_error'] = codes;
  if (codes.length === 1) return inCapitals(code.split('_'));
  const owners = contracts.filter((contract) =>
    codesByStatus(contract).some((others) => others.join() === codes.join()),
  );
  const [first] = owners;
  const isOwn = owners.length === 1 || (first !== undefined && selfServiceContracts.includes(first));
  const others = owners.filter((owner) => !selfServiceContracts.includes(owner));
  const owner = isOwn ? first?.name : others.every(({ price }) => price) ? 'paid' : 'registry';
  return inCapitals([String(owner), ...String(STATUS_CODES[statusOf(codes)]).split(' ')]);
}

function inCapitals(words: readonly string[]): string {
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function sentencesOf(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\`: ${asMarkdown(errorCatalog[code].message)}`).join('\n\n');
}

/** Otherwise a viewer would read `<token>` as an HTML tag and drop it. */
function asMarkdown(sentence: string): string {
  return sentence.replaceAll('<', '&lt;');
}
