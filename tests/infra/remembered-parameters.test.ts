import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { changesBetween } from '../../infra/parameters/remembered-parameters.ts';
import { bareEnvironment, flagsOf, templateIn } from '../../infra/plugins/packages.ts';
import { serve } from '../support/serve.ts';
import { builtProject, packagedStage } from './packaging.ts';

/** The actions of a run, answered as CloudFormation, STS and S3 would. */
let actions: string[];
let template = '';
let project: string;

const aws = await serve(async (request, response) => {
  const action = /Action=(\w+)/.exec(await text(request))?.[1] ?? `${request.method} ${request.url}`;
  actions.push(action);
  const isRead = action === 'GetTemplate';
  const result = `<GetTemplateResponse><GetTemplateResult><TemplateBody>${template}</TemplateBody></GetTemplateResult></GetTemplateResponse>`;
  response.writeHead(isRead ? 200 : 403, { 'content-type': 'text/xml' }).end(isRead ? result : '');
});

beforeAll(async () => {
  const deployed = JSON.stringify((await packagedStage('full')).template);
  template = deployed.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  project = await builtProject('remembered');
});

beforeEach(() => {
  actions = [];
});

/** Runs a command of the framework, and returns its output. */
async function serverless(command: string, flags: readonly string[]): Promise<string> {
  const env = {
    ...bareEnvironment,
    ...{ AWS_ACCESS_KEY_ID: 'LOCALACCESSKEY', AWS_SECRET_ACCESS_KEY: 'LOCALSECRETKEY' },
    ...{ AWS_MAX_ATTEMPTS: '1', AWS_ENDPOINT_URL: aws.url },
    AWS_ENDPOINT_URL_DYNAMODB: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  };
  const args = [...command.split(' '), ...flags];
  const outputOf = ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr;
  return promisify(execFile)('serverless', args, { cwd: project, env }).then(outputOf, outputOf);
}

const isRead = (action: string) => /^Get(?:Template|CallerIdentity)$/.test(action);

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
    await writeFile(file, '# Of prod\n\ncorsOrigins=https://c.example.com\nsite=\n');
    const origins = `--param=corsOrigins=${parameterSets.full.corsOrigins}`;
    await serverless('deploy', ['--stage', 'prod', '--same', '--unreleased', '--parameters', file, origins]);
    const packaged = await readFile(templateIn(join(project, '.serverless')), 'utf8');
    const { Metadata } = JSON.parse(packaged);

    expect(Metadata.NodeRegistryParameters).toEqual(parameterSets.full);
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
