import * as z from 'zod/mini';
import { isKeyHeader, keyHeaderRule } from '../../lib/config.ts';

/** What a value must be: a check, and the rest of the sentence "<name> must …". */
export interface Rule {
  isKept: (value: string) => boolean;
  sentence: string;
}

/** A parameter's schema carries what the parameter is for. */
export function required({ isKept, sentence }: Rule, about: string): z.ZodMiniType {
  return z.string().check(z.refine(isKept, `must ${sentence}`), z.describe(about));
}

/** Empty leaves the default of the function, or the part of the stage that it is for, out. */
export function optional({ isKept, sentence }: Rule, about: string): z.ZodMiniType {
  return required({ isKept: (value) => value === '' || isKept(value), sentence }, about);
}

export function shape(pattern: RegExp, sentence: string): Rule {
  return { isKept: (value) => pattern.test(value), sentence };
}

export function oneOf(...values: string[]): Rule {
  return { isKept: (value) => values.includes(value), sentence: `be one of ${values.join(', ')}` };
}

export function wholeNumber(minimum: number, maximum: number): Rule {
  return {
    isKept: (value) => /^\d{1,15}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum,
    sentence: `be a whole number from ${minimum} to ${maximum}`,
  };
}

/** An address that the world can reach: of the local stack's, none would work in a deployment. */
export const httpsAddress: Rule = {
  isKept: (value) => {
    const url = /^https:\/\/[^/?#\\]/i.test(value) ? URL.parse(value) : null;
    const isLocal = /^(?:localhost|127\.|\[::1\])/.test(url?.hostname ?? '');
    return url?.protocol === 'https:' && !isLocal && !url.search && !url.hash && !/\s/.test(value);
  },
  sentence: 'be an https address without a query, and not one of this machine',
};

/** The issuers of ID tokens, each with its kind and perhaps the address of its key set. */
export const ciIssuers: Rule = {
  isKept: (value) =>
    value.split(',').every((entry) => {
      const [kind = '', ...addresses] = entry.trim().split(/\s+/);
      const isCount = addresses.length === 1 || addresses.length === 2;
      return /^git(?:hub|lab)$/.test(kind) && isCount && addresses.every(httpsAddress.isKept);
    }),
  sentence:
    'be github or gitlab, the https address of an issuer and perhaps that of its key set, separated by blanks; commas separate several',
};

/** An ARN ends with the six characters that the store appends; without them no other account can be asked. */
const secretArn = String.raw`arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@!-]+-[A-Za-z0-9]{6}`;

export const secretName = shape(
  new RegExp(String.raw`^(?:ssm:/[\w./-]+|secretsmanager:(?:[\w/+=.@!-]+|${secretArn}))$`),
  'name a secret, as ssm:/<name>, secretsmanager:<name> or secretsmanager:<complete ARN>; the key itself would be readable in the template',
);

export const headerName: Rule = {
  isKept: (value) => value.length <= 64 && isKeyHeader(value),
  sentence: keyHeaderRule,
};

/** What API Gateway and S3 compare with a browser's Origin header, to the letter. */
export const origins: Rule = {
  isKept: (value) => value === '*' || value.split(',').every(isOrigin),
  sentence:
    'be *, or origins such as https://app.example.com, separated by commas, without blanks, paths or wildcards',
};

function isOrigin(value: string): boolean {
  const url = URL.parse(value);
  return /^https?:$/.test(url?.protocol ?? '') && url?.origin === value && !value.includes('*');
}

export const keySet: Rule = {
  isKept: (value) => {
    try {
      const { keys } = JSON.parse(value);
      return Array.isArray(keys) && keys.length > 0 && keys.every(({ kty }) => typeof kty === 'string');
    } catch {
      return false;
    }
  },
  sentence: 'be a JSON Web Key Set, {"keys": […]}',
};

/** Predefined in every account; one of the operator's own would need a name of its own, and a resource. */
export const rollouts = oneOf(
  'off',
  'LambdaAllAtOnce',
  ...[5, 10, 15, 30].map((minutes) => `LambdaCanary10Percent${minutes}Minutes`),
  'LambdaLinear10PercentEvery1Minute',
  ...[2, 3, 10].map((minutes) => `LambdaLinear10PercentEvery${minutes}Minutes`),
);
