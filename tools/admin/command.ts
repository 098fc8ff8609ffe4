import { readFile } from 'node:fs/promises';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import * as z from 'zod/mini';
import { ApiError } from '../../lib/errors.ts';
import type { Operator } from '../../lib/registry/records.ts';
import { Rejection } from './registry/administration.ts';

/** One command, independent of the command line's parser and output. */
export interface Command {
  /** The names of the parameters after the noun and the verb. */
  parameters: readonly string[];
  /** An omitted parameter is empty text. Otherwise all are required. */
  areOptional?: true;
  /** One sentence for the list of commands, without a period. */
  summary: string;
  /** Facts that a person should know before running it; shown by --help. */
  notes?: string | undefined;
  options: Record<string, Option>;
  /** Command lines without `npm run admin --`, for --help. */
  examples: readonly string[];
  /** Runs if the noun has no verb. */
  isDefault?: boolean;
  /** Any other command prints the table that it changes. */
  readsOnly?: true;
  /** Owners of a publisher see the change in their history, with the reason that is written for them. */
  tellsOwners?: true;
  /** For a command that stops the work of others: its impact. On a deployed table, it must be confirmed. */
  impact?(parameters: Record<string, string>, options: Record<string, OptionValue>): Promise<string>;
  run(
    parameters: Record<string, string>,
    options: Record<string, OptionValue>,
    invocation: Invocation,
  ): Promise<CommandResult>;
}

interface Invocation {
  /** Who the history names. */
  actor: Operator;
  /** A command line to paste that acts on the same table. */
  suggest: (words: string) => string;
}

type OptionValue = string | boolean | undefined;

/** With a placeholder the option takes a value, without one it is a switch. */
export interface Option {
  about: string;
  value?: string;
  required?: true;
}

export interface CommandResult {
  /** The output of --json. */
  data: unknown;
  /** The output for a person. */
  text: string;
  /** Why the work is incomplete although there is a result; the exit status is then 1. */
  problem?: string | undefined;
}

type OptionValues<Options extends Record<string, Option>> = {
  [Name in keyof Options]: Options[Name] extends { required: true }
    ? string
    : Options[Name] extends { value: string }
      ? string | undefined
      : boolean | undefined;
};

interface Definition<Parameter extends string, Options extends Record<string, Option>>
  extends Omit<Command, 'parameters' | 'options' | 'impact' | 'run'> {
  parameters: readonly Parameter[];
  options?: Options;
  impact?(parameters: Record<Parameter, string>, options: OptionValues<Options>): Promise<string>;
  run(
    parameters: Record<Parameter, string>,
    options: OptionValues<Options>,
    invocation: Invocation,
  ): Promise<CommandResult>;
}

/** Gives `run` the types of the declared parameters and options, which the command line has checked. */
export function command<
  const Parameter extends string,
  const Options extends Record<string, Option> = Record<never, Option>,
>(definition: Definition<Parameter, Options>): Command {
  return { options: {}, ...definition };
}

type OptionName<Field> = Field extends `${infer Name}_id`
  ? Name
  : Field extends `${infer Word}_${infer Rest}`
    ? `${Word}-${OptionName<Rest>}`
    : Field;

const optionOf = (field: string) => field.replace(/_id$/, '').replaceAll('_', '-');

/** Options for the fields of a request: `--job-workflow` for `job_workflow`, `--node` for `node_id`. */
export function optionsOf<Fields extends Record<string, z.ZodMiniType>>(
  fields: Fields,
  required: readonly (keyof Fields)[] = [],
): { [Field in keyof Fields as OptionName<Field> & string]: Option & { value: string } } {
  const options = Object.entries(fields).map(([field, schema]) => {
    const about = z.globalRegistry.get(schema)?.description ?? '';
    return [optionOf(field), { value: 'TEXT', about, ...(required.includes(field) && { required: true }) }];
  });
  return Object.fromEntries(options);
}

/** The fields that options give. A sentence names the first wrong one. */
export function fieldsIn<Fields extends Record<string, z.ZodMiniType>>(
  schema: z.ZodMiniObject<Fields>,
  options: Record<string, OptionValue>,
): z.infer<z.ZodMiniObject<Fields>> {
  const given = Object.fromEntries(
    Object.keys(schema.shape).map((field) => [field, options[optionOf(field)]]),
  );
  const { data, error } = schema.safeParse(given);
  const [issue] = error?.issues ?? [];
  if (!data) throw new UsageError(`The ${issue?.path.join('.')} ${issue && issueSentence(issue, given)}.`);
  return data;
}

/** A file that the command line names. */
export function readNamed(file: string): Promise<Buffer> {
  return readFile(file).catch(({ message }: Error) => {
    throw new Rejection(`The file can't be read: ${message}`);
  });
}

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A sentence for the person at the command line; undefined for an unknown error. */
export function sentenceFor(error: unknown): string | undefined {
  if (error instanceof UsageError || error instanceof Rejection) return error.message;
  if (error instanceof ApiError) {
    return error.code === 'unavailable'
      ? `The table cannot be reached or is overloaded: check the region (${process.env.AWS_REGION}) and the network, and try again.`
      : error.message;
  }
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'ResourceNotFoundException') {
    const place = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? `region ${process.env.AWS_REGION}`;
    return `There is no table ${process.env.TABLE_NAME} in ${place}.`;
  }
  if (error.name === 'CredentialsProviderError') return saidByAws(error);
  if (error instanceof DynamoDBServiceException) return `DynamoDB rejected the request: ${saidByAws(error)}`;
  return sentenceForBucket(error);
}

const remedies: [RegExp, string][] = [
  // The SDK can't ask for a code, but the AWS CLI can.
  [
    /multi-factor/,
    'Run eval "$(aws configure export-credentials --profile <profile> --format env)", unset AWS_PROFILE, and try again.',
  ],
  [/^(?:Expired|UnrecognizedClient|InvalidClientToken)/, 'Sign in again.'],
  [/^AccessDenied/, 'The output AdministrationRole names a role that may (docs/deploy.md).'],
  [/^CredentialsProviderError/, 'Sign in, or set AWS_PROFILE.'],
  [/\b(?:ENOTFOUND|EAI_AGAIN)\b/, 'Check how the region is spelled, and the network.'],
];

/** The reason that AWS or its SDK gives, and the remedy. */
export function saidByAws({ name, message }: Error): string {
  const remedy = remedies.find(([pattern]) => pattern.test(`${name} ${message}`))?.[1] ?? '';
  return `${message.replace(/\.?$/, '.')} ${remedy}`.trimEnd();
}

/** Few commands need the S3 client, and DynamoDB's own errors have a sentence. */
function sentenceForBucket({ name, $metadata }: Error & { $metadata?: { httpStatusCode?: number } }) {
  const { BUCKET_NAME, AWS_REGION } = process.env;
  const status = $metadata?.httpStatusCode;
  if (status !== undefined)
    return `The bucket ${BUCKET_NAME} answered ${status} (${name}): check its name, the region (${AWS_REGION}) and your rights.`;
  // The SDK counts the attempts of a request that gets no answer, unless its time is up.
  if ($metadata !== undefined || name === 'AbortError')
    return `The bucket ${BUCKET_NAME} cannot be reached: check the region (${AWS_REGION}) and the network, and try again.`;
  return undefined;
}

/** For an entry that failed while the others succeeded. */
export function textOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return sentenceFor(error) ?? (error instanceof Error ? error.message : String(error));
}
