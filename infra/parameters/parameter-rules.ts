import { BlockList, isIPv4 } from 'node:net';
import * as z from 'zod/mini';
import { textMatching } from '../../lib/variable-kinds.ts';

const privateNetworks = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  privateNetworks.addSubnet(network, bits);

/** Addresses of the local stack, or of a closed network, would not work in a deployment. */
export const publicAddress = z
  .string()
  .check(
    z.refine(
      (value) => !(value.match(/https?:\/\/[^\s,]+/gi) ?? []).some(isClosed),
      'must be an https address that the internet can reach, without a query or user',
    ),
  );

function isClosed(address: string): boolean {
  const { hostname = '' } = URL.parse(address) ?? {};
  const isName = /^(?:[^.]+|.+\.(?:local|internal|localhost))\.?$/.test(hostname);
  return isName || hostname.startsWith('[') || (isIPv4(hostname) && privateNetworks.check(hostname));
}

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
