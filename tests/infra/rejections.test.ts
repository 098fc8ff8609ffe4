import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parameterSets } from '../../infra/parameters/parameter-sets.ts';
import { parameters } from '../../infra/parameters/parameters.ts';
import { flagsOf, packageWith, requiredParameters, templateIn } from '../../infra/plugins/packages.ts';
import { builtProject, packagedStage, rejectionOf } from './packaging.ts';

/** What a person reads of it, without the lines about the framework. */
function sentencesIn(rejection: string): string[] {
  const lines = rejection.split('Error:\n')[1]?.split('\n') ?? [];
  return lines.filter((line) => line !== '' && !/^(?:Environment|Docs):/.test(line));
}

describe('a stage that cannot be deployed', () => {
  test('rejects it in one run, with a line for each unknown, missing or unusable value, and shows no key', async () => {
    const project = await builtProject('rejected');
    await addBlock(project, 'prod', 'bulkRateLimit: 0, adminClaim: null');
    const { tokenIssuer: _, bucketName: __, ...rest } = requiredParameters;
    // An empty one is as one that is not given.
    const empty = Object.fromEntries(Object.keys(parameters).map((name) => [name, '']));
    const bad = {
      ...{ ...empty, ...rest, tokenIsuer: 'https://issuer.example.com', bucketName: 'Not_A_Bucket' },
      ...{ imageProviderKey: 'sk-live-the-key-itself', rateLimit: 'abc', maxArchiveBytes: '100MB' },
      ...{ creditsPerDay: '-1', site: 'yes' },
    };
    const rejection = await rejectionOf(flagsOf(bad), project);

    expect(sentencesIn(rejection)).toEqual([
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
    expect(rejection).not.toContain('the-key-itself');
  });

  test('rejects a parameter without a value and an equals sign', async () => {
    expect(sentencesIn(await rejectionOf(['--stage', 'prod', '--param=foo', '--param', '=bar']))).toEqual([
      'This stage cannot be deployed:',
      '  --param=foo must be --param=<name>=<value>; the value may be empty.',
      '  --param==bar must be --param=<name>=<value>; the value may be empty.',
    ]);
  });
});

/** Gives a stage parameters of its own. */
async function addBlock(project: string, stage: string, values: string): Promise<void> {
  const file = join(project, 'serverless.yml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('  local:\n', `  ${stage}: { ${values} }\n  local:\n`));
}

test('takes an empty parameter, given or in its block, as one that is not given', async () => {
  const project = await builtProject('empty');
  const names = Object.keys(parameters);
  await addBlock(project, 'prod', names.map((name) => `${name}: ""`).join(', '));
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  await packageWith(project, 'packaged', flagsOf({ ...empty, ...parameterSets.minimal }));
  const template = async (file: string) => {
    const text = await readFile(file, 'utf8');
    return JSON.parse(text.replaceAll(/\d{13}-[\d:.TZ-]+/g, '<time>'));
  };

  expect(await template(templateIn(join(project, 'packaged')))).toEqual(
    await template((await packagedStage('minimal')).file),
  );
});

test('takes values of several lines', async () => {
  const project = await builtProject('given');
  const keys = { keys: [{ kty: 'RSA', kid: '1' }] };
  const given = { ...requiredParameters, tokenKeySet: JSON.stringify(keys, null, 2) };
  await packageWith(project, 'packaged', [...flagsOf(given), '--param', 'corsOrigins=*']);
  const { Resources } = JSON.parse(await readFile(templateIn(join(project, 'packaged')), 'utf8'));
  const { Variables } = Resources.TextToVideoLambdaFunction.Properties.Environment;

  expect(JSON.parse(Variables.TOKEN_KEY_SET)).toEqual(keys);
});
