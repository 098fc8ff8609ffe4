import * as z from 'zod/mini';
import { textMatching } from '../../lib/variable-kinds.ts';

/** Plain http is for the local stack. */
export const secureAddress = z
  .string()
  .check(z.refine((value) => !/http:/i.test(value), 'must be an https address, without a query or user'));

/** An ARN ends with six characters that the store appends; without them, no other account can be queried. */
const secretArn = String.raw`arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@!-]+-[A-Za-z0-9]{6}`;

export const secretReference = textMatching(
  new RegExp(String.raw`^(?:ssm:/[\w./-]+|secretsmanager:(?:[\w/+=.@!-]+|${secretArn}))$`),
  'name a secret, as ssm:/<name>, secretsmanager:<name> or secretsmanager:<complete ARN>; the key itself would be readable in the template',
);

/** API Gateway and S3 compare these with a browser's Origin header, character by character. */
export const origins = z
  .string()
  .check(
    z.refine(
      (value) => value === '*' || value.split(',').every(isOrigin),
      'must be *, or origins such as https://app.example.com, separated by commas, without spaces, paths or wildcards',
    ),
  );

function isOrigin(value: string): boolean {
  const url = URL.parse(value);
  return /^https?:$/.test(url?.protocol ?? '') && url?.origin === value && !value.includes('*');
}
