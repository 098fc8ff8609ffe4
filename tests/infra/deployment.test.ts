import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Framework } from '../../infra/plugins/framework.ts';
import { nameTree, treeOf } from '../../infra/plugins/name-release.ts';
import Stage from '../../infra/plugins/stage.ts';
import { checkParameters, takeParameters } from '../../infra/parameters/stage-parameters.ts';
import { bucketName, s3 } from '../../lib/bucket/bucket.ts';
import { releaseKey } from '../../lib/store/keys.ts';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { release, tableState, writeRelease } from '../../infra/release.ts';
import { buildSite, sitePage } from '@node-registry/site/build';
import { plainSite } from '@node-registry/site/layout';
import { keysBelow, readObject } from '../support/bucket-objects.ts';
import { emptyTable } from '../support/table-image.ts';
import { serve } from '../support/serve.ts';
import { setVariables } from '../support/variables.ts';
import '../support/in-order.ts';

const table = { client: dynamodb, name: tableName() };

/** In the place of CloudFormation: the deployed template, which is empty if only a change set was made. */
let deployed: object | '' | undefined;
/** Its answer if there is no template. */
let absent = '<Code>ValidationError</Code><Message>Stack with id node-registry-prod does not exist</Message>';
const aws = await serve(async (_, response) => {
  const template = `<TemplateBody>${deployed && JSON.stringify(deployed).replaceAll(/[&<]/g, ' ')}</TemplateBody>`;
  const isStack = deployed !== undefined;
  const answer = isStack
    ? `<GetTemplateResponse><GetTemplateResult>${template}</GetTemplateResult></GetTemplateResponse>`
    : `<ErrorResponse><Error>${absent}</Error></ErrorResponse>`;
  response.writeHead(isStack ? 200 : 400, { 'content-type': 'text/xml' }).end(answer);
});
setVariables({ AWS_ENDPOINT_URL: aws.url });

/** What the framework hands a plugin, for the embedded servers. */
function framework(
  commands: string,
  {
    parameters = {},
    stage = 'prod',
    config = {},
    template = { Resources: {} } as object,
    options = {},
    param = [] as string[],
  } = {},
): Framework {
  process.argv = ['node', 'serverless', ...param.map((pair) => `--param=${pair}`)];
  const region = 'us-east-1';
  const own = {
    processedInput: { commands: commands.split(' '), options: { stage, ...options } },
    configurationInput: { params: { default: parameters }, custom: {} },
    service: {
      service: 'node-registry',
      custom: { tableName: table.name },
      provider: { compiledCloudFormationTemplate: template, environment: {} },
      validate: async () => {},
      getAllFunctions: () => [],
    },
    getProvider: () => ({
      getStage: () => stage,
      getRegion: () => region,
      getServerlessDeploymentBucketName: async () => bucketName(),
      getDeploymentPrefix: () => 'serverless',
      getAwsSdkV3Config: async () => ({ region, credentials: s3().config.credentials, ...config }),
    }),
    classes: { Error },
  };
  // Only what these plugins use: the real one cannot deploy without an account.
  return own as unknown as Framework;
}

/** Runs hooks as the framework does. */
async function run(own: Framework, ...names: string[]): Promise<void> {
  const stage = new Stage(own);
  await stage.asyncInit();
  for (const name of names) await stage.hooks[name]?.();
}

describe.each(['deploy', 'deploy function'])('serverless %s', (commands) => {
  beforeEach(emptyTable);

  async function deploy(): Promise<void> {
    const options = { unreleased: true };
    await run(framework(commands, { options }), 'initialize', 'after:aws:deploy:deploy:updateStack');
  }

  test('names its release in a table that was empty, and leaves what another one says', async () => {
    await deploy();
    expect(await tableState(table)).toMatchObject({ ...releaseKey, release: release.name });
    const next = { ...releaseKey, release: 'next', before: release.name, at: '2026-11-22T00:00:00.000Z' };
    await writeRelease(table, next);
    await deploy();

    expect(await tableState(table)).toEqual(next);
  });

  test('rejects a table of another release', async () => {
    await writeRelease(table, { ...releaseKey, release: '3.1.0', at: '2026-11-22T00:00:00.000Z' });

    await expect(deploy()).rejects.toThrow('was written by release 3.1.0');
  });

  test('rejects parameters that could not work', async () => {
    const checked = framework(commands, { stage: 'local' });
    checkParameters(checked);

    await expect(checked.service.validate()).rejects.toThrow('"local" is the stage of npm start');
  });
});

describe('the parameters of the last deployment', () => {
  const functions = { Resources: { Bulk: { Type: 'AWS::Lambda::Function' } } };
  const remembering = (given: object) => ({ ...functions, Metadata: { NodeRegistryParameters: given } });
  const deploying = (options: object, template: object = functions, param: string[] = []) => {
    const own = framework('deploy', { options: { unreleased: true, ...options }, template, param });
    return run(own, 'initialize', 'before:deploy:deploy');
  };

  beforeEach(emptyTable);

  test.each([
    ['<Code>AccessDenied</Code><Message>not yours</Message>', 'AccessDenied: not yours'],
    ['<Code>ValidationError</Code><Message>no such key</Message>', 'ValidationError: no such key'],
  ])('stop a deployment if they cannot be read: %s', async (answer, reason) => {
    [deployed, absent] = [undefined, answer];

    for (const options of [{}, { yes: true }])
      await expect(deploying(options)).rejects.toThrow(
        `The stack node-registry-prod can't be read, so nothing was sent: ${reason}`,
      );
  });

  test('stop a deployment with others, also one of a package of another day, unless that is accepted', async () => {
    deployed = remembering({ site: 'on' });
    await expect(deploying({})).rejects.toThrow('site would fall away: on');
    await deploying({ yes: true });
    await expect(deploying({}, remembering({}), ['site=on'])).rejects.toThrow('site would fall');
    await deploying({}, remembering({ site: 'on' }), ['site=on']);
  });

  test('stop a rollback to a template with others, or of before they were kept, unless that is accepted', async () => {
    deployed = remembering({ site: 'on' });
    const timestamp = '2026-11-20T12:00:00.000Z';
    const back = (options: object) => run(framework('rollback', { options }), 'before:rollback:rollback');
    const keep = (template: object) =>
      s3().send(
        new PutObjectCommand({
          Bucket: bucketName(),
          Key: `serverless/node-registry/prod/${Date.parse(timestamp)}-${timestamp}/compiled-cloudformation-template.json`,
          Body: JSON.stringify(template),
        }),
      );
    await keep(remembering({ tasksPerDay: '9' }));
    await expect(back({ timestamp })).rejects.toThrow(
      'site would fall away: on\n  tasksPerDay would be 9, and was not given\nNothing was sent.',
    );
    await back({ timestamp: String(Date.parse(timestamp)), yes: true });
    await keep(functions);
    await expect(back({ timestamp })).rejects.toThrow('A template doesn’t name them, so all may change.');
    await keep(remembering({ site: 'on' }));
    await back({ timestamp });
    await back({});
    await expect(back({ timestamp: '2026-11-21' })).rejects.toThrow('NoSuchKey');
  });

  test('stop a deployment, and --same, if the stack does not name them', async () => {
    deployed = functions;
    await expect(deploying({})).rejects.toThrow('A template doesn’t name them, so all may change.');
    await expect(takeParameters(framework('deploy', { options: { same: true } }))).rejects.toThrow(
      '--same has nothing to take: the stack node-registry-prod doesn’t name its parameters.',
    );
    deployed = { Resources: {} };
    await expect(takeParameters(framework('deploy', { options: { same: true } }))).rejects.toThrow(
      'the stack node-registry-prod is not deployed.',
    );
  });

  test('end with a warning if alarms notify no one, or if everyone who signs in may spend', async () => {
    deployed = '';
    const lines: string[] = [];
    const writes = [process.stdout, process.stderr].map((stream) =>
      jest.spyOn(stream, 'write').mockImplementation((line) => !!lines.push(String(line))),
    );
    const open = ['selfService=on', 'proxyAccess=any', 'stageCreditsPerDay=500'];
    for (const param of [[], ['alarmTopicArn=arn'], ['alarmTopicArn=arn', ...open]]) {
      await run(framework('deploy', { options: { unreleased: true }, param }), 'initialize', 'finalize');
    }
    for (const write of writes) write.mockRestore();

    expect(lines).toEqual([
      'Without alarmTopicArn, the stage’s alarms notify no one.\n',
      'With proxyAccess=any, everyone who can sign in may spend your providers’ credits: 500 a day in all.\n',
    ]);
  });
});

describe('a tree', () => {
  const folder = mkdtempSync(join(tmpdir(), 'node-registry-tree-'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: folder });
  const deploying = (options = {}, stage = 'prod', commands = 'deploy') =>
    nameTree(framework(commands, { options, stage }), folder);
  const name = expect.stringMatching(new RegExp(`^${release.name}\\+[0-9a-f]+(?:\\.changed)?$`));

  afterAll(() => rmSync(folder, { recursive: true }));

  test('is a release if its commit has the tag and nothing is changed', async () => {
    expect(await treeOf(folder)).toMatchObject({ name: `${release.name}+unknown` });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'A commit');
    expect(await treeOf(folder)).toEqual({ name, problem: `This commit has no tag v${release.name}.` });
    git('tag', `v${release.name}`);
    expect(await treeOf(folder)).toEqual({ name: release.name });
    await deploying();
    writeFileSync(join(folder, 'file'), 'changed');
    expect(await treeOf(folder)).toEqual({ name, problem: 'This tree has uncommitted changes.' });
  });

  test('that is not a release is deployed to a dev stage, or by --unreleased', async () => {
    for (const commands of ['deploy', 'deploy function'])
      await expect(deploying({}, 'prod', commands)).rejects.toThrow(/uncommitted changes.*--unreleased/);
    await deploying({ unreleased: true });
    await deploying({}, 'dev-ann');
    await deploying({}, 'prod', 'package');
  });
});

test('asks nothing of the table and the parameters if nothing is packaged or deployed', async () => {
  const checked = framework('print', { stage: 'local' });
  checkParameters(checked);

  await checked.service.validate();
  await emptyTable();
  await writeRelease(table, { ...releaseKey, release: '3.1.0', at: '2026-11-22T00:00:00.000Z' });
  await run(framework('package'), 'initialize', 'finalize');
});

describe('a deployed site', () => {
  test('has the page for accounts in a folder of its own, whose policy names origins, and no other unless asked', async () => {
    const parameters = {
      bucketName: bucketName(),
      domainName: 'api.example',
      accountDomainName: 'account.example',
      tokenIssuer: 'https://id.example/realms/acme',
      loginOrigins: 'https://login.example',
    };
    await run(framework('deploy', { parameters }), 'after:deploy:deploy');
    const { headers, text } = await readObject('account/account/');

    expect(await keysBelow('site/')).toEqual([]);
    expect(await keysBelow('account/')).toEqual(
      [
        ...['', 'config.json', 'index.html'].map((name) => `account/account/${name}`),
        ...['third-party.txt', 'account.css', 'account.js', 'icon.png', 'site.css'].map(
          (name) => `account/site/${name === 'third-party.txt' ? `account-${name}` : name}`,
        ),
      ].sort(),
    );
    expect(headers.ContentType).toBe('text/html; charset=utf-8');
    expect(text).toContain(
      'connect-src &#39;self&#39; https://api.example https://id.example https://login.example;',
    );
    expect((await readObject('account/account/config.json')).text).toBe('{"apiUrl":"https://api.example"}');
  });

  test('has every file uploaded, with its type and how long it is kept, and its page last', async () => {
    const keys: string[] = [];
    const info = ({ input }: { input: { Key: string } }) => keys.push(input.Key);
    const config = { logger: { debug() {}, warn() {}, error() {}, info } };
    const parameters = { site: 'on', bucketName: bucketName(), siteDomainName: 'nodes.example' };
    await run(framework('deploy', { parameters, config }), 'after:deploy:deploy');
    const files = await buildSite({ ...plainSite, url: 'https://nodes.example' });

    expect(keys.toSorted()).toEqual(files.map(({ path }) => path).sort());
    expect(keys.at(-1)).toBe(sitePage);
    for (const { path, content, type, cacheControl } of files) {
      const { headers, text } = await readObject(path);
      expect(text).toBe(Buffer.from(content).toString());
      expect(headers.ContentType).toBe(type);
      expect(headers.CacheControl).toBe(cacheControl);
    }
  });
});
