import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { parameters } from '../../infra/parameters/parameters.ts';
import { changesBetween } from '../../infra/plugins/check-release.ts';
import { bareEnvironment, flagsOf, requiredParameters, templateIn } from '../../infra/plugins/packages.ts';
import { serve } from '../support/serve.ts';
import { builtProject, packagedStage } from './packaging.ts';

/* How the framework itself takes parameters: from the command line, a stage's block, a file and the last deployment. */

const project = await builtProject();
const sources = await readFile(join(project, 'serverless.yml'), 'utf8');
const deployed = JSON.stringify((await packagedStage('full')).template)
  .replaceAll('&', '&amp;')
  .replaceAll('<', '&lt;');

/** The actions of a run, answered as CloudFormation, STS and S3 would. */
const actions: string[] = [];
const aws = await serve(async (request, response) => {
  const action = /Action=(\w+)/.exec(await text(request))?.[1] ?? `${request.method} ${request.url}`;
  actions.push(action);
  const isRead = action === 'GetTemplate';
  const result = `<GetTemplateResponse><GetTemplateResult><TemplateBody>${deployed}</TemplateBody></GetTemplateResult></GetTemplateResponse>`;
  response.writeHead(isRead ? 200 : 403, { 'content-type': 'text/xml' }).end(isRead ? result : '');
});

beforeEach(async () => {
  actions.length = 0;
  await writeFile(join(project, 'serverless.yml'), sources);
});

const longStage = 'a-stage-whose-name-is-really-long';

/** Gives the stage parameters of its own. */
const giveBlock = (values: string) =>
  writeFile(
    join(project, 'serverless.yml'),
    sources.replace('  local:\n', `  prod: { ${values} }\n  local:\n`),
  );

/** Runs a command of the framework, and returns its output. */
async function serverless(command: string, flags: readonly string[]): Promise<string> {
  const env = {
    ...bareEnvironment,
    AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY',
    AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY',
    AWS_MAX_ATTEMPTS: '1',
    AWS_ENDPOINT_URL: aws.url,
    AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  };
  const args = [...command.split(' '), ...flags];
  const outputOf = ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr;
  return promisify(execFile)('serverless', args, { cwd: project, env }).then(outputOf, outputOf);
}

/** The template of the last run. */
const packaged = () => readFile(templateIn(join(project, '.serverless')), 'utf8');

/** What a person reads of a rejection, without the lines about the framework. */
function sentencesIn(output: string): string[] {
  const lines = output.split('Error:\n')[1]?.split('\n') ?? [];
  return lines.filter((line) => line !== '' && !/^(?:Environment|Docs):/.test(line));
}

const named = (value: string) => Object.fromEntries(Object.keys(parameters).map((name) => [name, value]));
const isRead = (action: string) => /^Get(?:Template|CallerIdentity)$/.test(action);

describe('npm run package', () => {
  test('rejects a stage in one run, with a line for each unknown, missing or unusable value, and shows no key', async () => {
    await giveBlock('bulkRateLimit: 0, adminClaim: null');
    const { tokenIssuer: _, bucketName: __, ...rest } = requiredParameters;
    // An empty one is as one that is not given.
    const bad = {
      ...named(''),
      ...rest,
      tokenIsuer: 'https://issuer.example.com',
      bucketName: 'Not_A_Bucket',
      imageProviderKey: 'sk-live-the-key-itself',
      rateLimit: 'abc',
      maxArchiveBytes: '100MB',
      creditsPerDay: '-1',
      site: 'yes',
    };
    const output = await serverless('package', flagsOf(bad));

    expect(sentencesIn(output)).toEqual([
      'This stage cannot be deployed:',
      '  tokenIsuer is not a parameter.',
      '  maxArchiveBytes: must be a whole number from 1 to 1000000000.',
      expect.stringMatching(/^ {2}bucketName: must be 3 to 63 lowercase letters/),
      expect.stringMatching(/^ {2}imageProviderKey: must name a secret/),
      '  creditsPerDay: must be a whole number from 1 to 1000000000, or none.',
      '  tokenIssuer is missing: --param=tokenIssuer=…',
      '  site: must be one of off, on.',
      '  rateLimit: must be a whole number from 1 to 2500.',
      '  bulkRateLimit: must be a whole number from 1 to 2500.',
    ]);
    expect(output).not.toContain('the-key-itself');
  });

  test.each([
    [
      'a parameter without a value and an equals sign',
      ['--stage', 'prod', '--param=foo', '--param', '=bar'],
      [
        '--param=foo must be <name>=<value>; the value may be empty.',
        '--param==bar must be <name>=<value>; the value may be empty.',
      ],
    ],
    [
      'a line of a file without an equals sign',
      ['--stage', 'prod', '--parameters', 'serverless.yml'],
      expect.arrayContaining([
        'serverless.yml: "service: node-registry" must be <name>=<value>; the value may be empty.',
      ]),
    ],
    [
      'a file that cannot be read',
      ['--stage', 'prod', '--parameters', 'nowhere.txt'],
      [expect.stringMatching(/^The file of --parameters can't be read: ENOENT/)],
    ],
    [
      'a stage whose name is too long for those of functions',
      ['--stage', longStage, ...flagsOf(requiredParameters).slice(2)],
      [`--stage ${longStage} is too long: with more than 29 characters, Lambda rejects names of functions.`],
    ],
  ])('rejects %s', async (_, flags, problems) => {
    const [title, ...found] = sentencesIn(await serverless('package', flags));

    expect(title).toBe('This stage cannot be deployed:');
    expect(found.map((line) => line.trim())).toEqual(problems);
  });

  test('takes an empty parameter, given or in its block, as one that is not given', async () => {
    const names = Object.keys(parameters);
    await giveBlock(names.map((name) => `${name}: ""`).join(', '));
    await serverless('package', flagsOf({ ...named(''), ...parameterSets.minimal }));
    const template = (text: string) => JSON.parse(text.replaceAll(/\d{13}-[\d:.TZ-]+/g, '<time>'));

    expect(template(await packaged())).toEqual(
      template(JSON.stringify((await packagedStage('minimal')).template)),
    );
  });

  test('takes values of several lines', async () => {
    const keys = { keys: [{ kty: 'RSA', kid: '1' }] };
    const given = { ...requiredParameters, tokenKeySet: JSON.stringify(keys, null, 2) };
    await serverless('package', [...flagsOf(given), '--param', 'corsOrigins=*']);
    const { Resources } = JSON.parse(await packaged());
    const { Variables } = Resources.TextToVideoLambdaFunction.Properties.Environment;

    expect(JSON.parse(Variables.TOKEN_KEY_SET)).toEqual(keys);
  });
});

describe('a deployment over a stage', () => {
  const { alarmTopicArn, noticeTopicArn, hostedZoneId, ...forgotten } = parameterSets.full;

  test.each(['deploy', 'deploy function --function bulkNodeVersions'])(
    '%s names forgotten parameters, and sends nothing',
    async (command) => {
      expect(await serverless(command, flagsOf(forgotten))).toContain(
        `node-registry-prod was deployed with other parameters:\n  alarmTopicArn would fall away: ${alarmTopicArn}\n  hostedZoneId would fall away: ${hostedZoneId}\n  noticeTopicArn would fall away: ${noticeTopicArn}\nNothing was sent.`,
      );
      expect(actions).toContain('GetTemplate');
      expect(actions.filter((action) => !isRead(action))).toEqual([]);
    },
  );

  test('takes them from the last one, a file and the command line, the last of which counts', async () => {
    const file = join(project, '..', 'prod.parameters');
    await writeFile(file, '# Of prod\n\ncorsOrigins=https://c.example.com\nrateLimit=150\nsite=\n');
    const flags = ['--stage', 'prod', '--same', '--unreleased', '--yes', '--parameters', file];
    await serverless('deploy', [...flags, '--param=corsOrigins=https://d.example.com', '--param=webAclArn=']);
    const { webAclArn: _, ...kept } = parameterSets.full;
    const { Metadata } = JSON.parse(await packaged());

    expect(Metadata.NodeRegistryParameters).toEqual({
      ...kept,
      corsOrigins: 'https://d.example.com',
      rateLimit: '150',
    });
    expect(actions.filter((action) => !isRead(action))).toEqual(['DescribeStacks']);
  });
});

test.each<[before: object, now: object, changes: string[]]>([
  [{ site: 'on' }, { site: 'on', rateLimit: '200', restart: '2' }, []],
  [{ rateLimit: '200', restart: '1' }, {}, []],
  [{ site: 'on' }, { site: 'off' }, ['site would be off, and was on']],
  [{}, { alarmTopicArn: 'arn' }, ['alarmTopicArn would be arn, and was not given']],
  [{ gone: '1' }, {}, ["gone, which this release doesn't know, would fall away: 1"]],
])('compares %j with %j by what they mean', (before, now, changes) => {
  expect(changesBetween({ ...before }, { ...now }, { rateLimit: '200', site: 'off' })).toEqual(changes);
});
