import { readFileSync } from 'node:fs';
import { type Engine, RegoEngine, TemplateFile } from '@aws/cloudformation-validate';
import type { Template } from './framework.ts';

/** The accepted warnings of CloudFormation's rules, with reasons. There is no other list of exceptions. */
export const acceptedWarnings: Record<string, string> = {
  W3005: 'The framework also states dependencies that a reference enforces.',
  W9002:
    'The framework names the bucket by text where S3 may invoke the finalizer: the bucket itself waits for that permission.',
  W9003: 'Numbers from the command line are text in the template. CloudFormation converts them.',
};

export interface TemplateReport {
  resources: number;
  /** The problems that would make CloudFormation or a service reject the template. */
  errors: string[];
  /** How often each accepted warning came up. */
  accepted: Record<string, number>;
}

/** Every check of a packaged template that works without AWS. */
export function checkTemplate(file: string): TemplateReport {
  const text = readFileSync(file, 'utf8');
  const template: Template = JSON.parse(text);
  const { errors, accepted } = validate(file);
  return {
    resources: Object.keys(template.Resources).length,
    errors: [...errors, ...overLimits(template, text)],
    accepted,
  };
}

let engine: Engine | undefined;

/** Uses CloudFormation's resource schemas and the rules of cfn-lint, which are part of the validator. */
function validate(file: string): Pick<TemplateReport, 'errors' | 'accepted'> {
  // Creating one takes several times as long as using it.
  engine ??= new RegoEngine();
  const { status, diagnostics } = engine.validateStandard(new TemplateFile(file));
  const found = diagnostics.filter(({ severity }) => !['INFO', 'DEBUG'].includes(severity));
  const accepted: Record<string, number> = {};
  const errors = status === 'OK' ? [] : [`The template could not be validated: ${status}.`];
  for (const { severity, ruleId, message, entity } of found) {
    if (severity === 'WARN' && ruleId in acceptedWarnings) accepted[ruleId] = (accepted[ruleId] ?? 0) + 1;
    else errors.push(`${entity?.logicalId ?? 'template'}: ${ruleId} ${message}`);
  }
  return { errors, accepted };
}

/** A limit that the validator doesn't check. */
const maxTemplateBytes = 1_048_576;
/** For all inline policies of a role together, without white space. */
const maxPolicyBytes = 10_240;

function overLimits({ Resources }: Template, text: string): string[] {
  const sizes = Object.entries(Resources)
    .filter(([, { Type }]) => Type === 'AWS::IAM::Role')
    .map(([id, { Properties }]) => [
      `policies in ${id}`,
      JSON.stringify(Properties.Policies).length,
      maxPolicyBytes,
    ]);
  return [['template', Buffer.byteLength(text), maxTemplateBytes], ...sizes]
    .filter(([, bytes = 0, limit = 0]) => bytes > limit)
    .map(([what, bytes, limit]) => `${bytes} bytes of ${what}, and AWS allows ${limit}.`);
}
