import * as z from 'zod/mini';
import { concerns } from '../../lib/environment.ts';
import { issueSentence } from '../../lib/validation-issues.ts';
import type { Framework } from './framework.ts';

const foreignAddress = z.string().check(
  z.refine((value) => {
    const url = URL.parse(value);
    return url?.protocol === 'https:' && !/^(?:localhost|127\.|\[::1\])/.test(url.hostname);
  }, 'must be an https address, and not one of this machine'),
);

const secretName = text(
  /^(?:ssm:\/[\w./-]+|secretsmanager:[\w/+=.@-]+)$/,
  'must name a secret, as ssm:/<name> or secretsmanager:<name>; the key itself would stand in the template',
);

/** What is asked of a deployed stage; the local one has values of its own, which would be refused here. */
const parameters: Record<string, z.ZodMiniType> = {
  tokenIssuer: foreignAddress,
  tokenKeySetUrl: foreignAddress,
  imageProviderUrl: foreignAddress,
  imageProviderKey: secretName,
  videoProviderUrl: foreignAddress,
  videoProviderKey: secretName,
  bucketName: text(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/, 'must be 3 to 63 small letters, digits and hyphens'),
  alarmTopicArn: text(/^$|^arn:[\w-]+:sns:/, 'must be the ARN of an SNS topic'),
  secretsKeyArn: text(/^$|^arn:[\w-]+:kms:/, 'must be the ARN of a KMS key'),
  certificateArn: text(/^$|^arn:[\w-]+:acm:/, 'must be the ARN of a certificate'),
  tracing: z.enum(['PassThrough', 'Active']),
  rollout: text(
    /^off$|^Lambda[A-Z]\w+$/,
    'must be off, or a configuration such as LambdaCanary10Percent5Minutes',
  ),
};

/** Refuses to package or deploy a stage that could not work or would not be safe: all faults at once, in sentences. */
export default class StageParameters {
  readonly hooks: Record<string, () => void>;

  constructor(framework: Framework) {
    this.hooks = {
      initialize: () => {
        const command = framework.processedInput.commands.join(' ');
        const isDeployed = ['package', 'deploy', 'deploy function'].includes(command);
        const faults = isDeployed ? [...unknownParameters(framework), ...stageFaults(framework)] : [];
        if (faults.length === 0) return;
        throw new framework.classes.Error(`This stage cannot be deployed:\n  ${faults.join('\n  ')}`);
      },
    };
  }
}

function text(shape: RegExp, message: string): z.ZodMiniType {
  return z.string().check(z.regex(shape, message));
}

/** A name with a typing error would be passed over, and its default deployed. */
function unknownParameters({ processedInput, configurationInput }: Framework): string[] {
  const known = Object.keys(configurationInput.params.default);
  const given = (processedInput.options.param ?? []).map((pair) => String(pair.split('=')[0]));
  return given.filter((name) => !known.includes(name)).map((name) => `There is no parameter ${name}.`);
}

function stageFaults(framework: Framework): string[] {
  if (framework.getProvider('aws').getStage() === 'local')
    return ['"local" is the stage of npm start; name another one, such as --stage prod.'];
  const values = framework.service.custom.parameters;
  const faults = Object.entries(parameters).flatMap(([name, schema]) =>
    isMissing(values[name]) && !schema.safeParse('').success
      ? [`${name} is missing: --param=${name}=…`]
      : messages(name, schema, values[name]),
  );
  if (Boolean(values.domainName) !== Boolean(values.certificateArn))
    faults.push('domainName and certificateArn must be given together.');
  return [...faults, ...environmentFaults(framework)];
}

function isMissing(value: unknown): boolean {
  return value === '' || value === 'unnamed';
}

/** What a function would refuse when it starts is refused before it is deployed. */
function environmentFaults({ service }: Framework): string[] {
  const shapes: Record<string, z.ZodMiniType> = Object.assign(
    {},
    ...Object.values(concerns).map((concern) => concern().shape),
  );
  const environments = service.getAllFunctions().map((name) => service.getFunction(name).environment);
  const variables = Object.entries(Object.assign({}, service.provider.environment, ...environments));
  return variables.flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? messages(name, shapes[name], value) : [],
  );
}

function messages(name: string, schema: z.ZodMiniType | undefined, value: unknown): string[] {
  const issues = schema?.safeParse(value).error?.issues ?? [];
  return issues.map((issue) => `${name}: ${issueSentence(issue, value)}.`);
}
