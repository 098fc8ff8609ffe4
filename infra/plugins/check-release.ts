import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { nameRelease, deploymentProblem, release, tableState, type Table } from '../release.ts';
import { defaultsOf, givenTo, valuesOf } from '../parameters/stage-parameters.ts';
import { parameters, type Values } from '../parameters/parameters.ts';
import { deployedTemplate, earlierTemplate, rememberedIn, stackOf } from './deployed-template.ts';
import type { Framework, Template } from './framework.ts';

/*
 * Rejects a deployment over a table of another release, and one with other parameters than the last one, before
 * anything is packaged or sent. A rollback restores the parameters of its template.
 */

/** Returns the template of the stack; undefined if nothing will be deployed. */
export async function checkDeployment(framework: Framework): Promise<Template | undefined> {
  const command = framework.processedInput.commands.join(' ');
  if (command !== 'deploy' && command !== 'deploy function') return undefined;
  await rejectOtherRelease(framework);
  const deployed = await deployedTemplate(framework);
  rejectChanges(framework, deployed, givenTo(framework));
  return deployed;
}

/** A package of an earlier day has parameters of its own. */
export function checkPackage(framework: Framework, deployed: Template | undefined): void {
  const packaged = rememberedIn(framework.service.provider.compiledCloudFormationTemplate);
  if (deployed && typeof packaged !== 'string') rejectChanges(framework, deployed, packaged);
}

export async function checkRollback(framework: Framework): Promise<void> {
  const { timestamp } = framework.processedInput.options;
  // Without one, the framework lists them.
  if (timestamp === undefined) return;
  const restored = rememberedIn(await earlierTemplate(framework, timestamp));
  rejectChanges(framework, await deployedTemplate(framework), restored);
}

export async function recordRelease(framework: Framework): Promise<void> {
  await nameRelease(await tableOf(framework), release);
}

/** Ends a deployment with a warning if alarms notify no one, or if everyone who signs in may spend. */
export function printWarnings(framework: Framework): void {
  const { alarmTopicArn, selfService, proxyAccess, stageCreditsPerDay } = valuesOf(framework);
  if (!alarmTopicArn) process.stdout.write('Without alarmTopicArn, the stage’s alarms notify no one.\n');
  if (selfService === 'on' && proxyAccess === 'any')
    process.stderr.write(
      `With proxyAccess=any, everyone who can sign in may spend your providers’ credits: ${stageCreditsPerDay} a day in all.\n`,
    );
}

async function rejectOtherRelease(framework: Framework): Promise<void> {
  const table = await tableOf(framework);
  const place = ` --region ${framework.getProvider('aws').getRegion()} --table ${table.name}`;
  const problem = deploymentProblem(table, await tableState(table), release, place);
  if (problem !== undefined) throw new framework.classes.Error(problem);
}

/** Uses the operator's credentials as the framework finds them. */
async function tableOf(framework: Framework): Promise<Table> {
  const settings = await framework.getProvider('aws').getAwsSdkV3Config();
  return { client: new DynamoDBClient(settings), name: framework.service.custom.tableName };
}

/** A forgotten parameter would remove a domain or silence every alarm. Another `bucketName` would use an empty bucket. */
function rejectChanges(framework: Framework, deployed: Template, given: Values | string): void {
  const before = rememberedIn(deployed);
  if (before === 'none' || framework.processedInput.options.yes) return;
  const changes =
    typeof before === 'string' || typeof given === 'string'
      ? ['A template doesn’t name them, so all may change.']
      : changesBetween(before, given, defaultsOf(framework));
  if (changes.length === 0) return;
  throw new framework.classes.Error(
    `The stack ${stackOf(framework)} was deployed with other parameters:\n  ${changes.join('\n  ')}\nNothing was sent. Add --same to take the last deployment's for those that you don't give, or --yes to accept this.`,
  );
}

/** What a deployment with other parameters would change, in sentences. */
export function changesBetween(before: Values, now: Values, defaults: Values): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    const [then, next] = [before, now].map((values) => values[name] || defaults[name] || '');
    // The purpose of this one is to change.
    if (name === 'restart' || then === next) return [];
    if (!(name in parameters)) return [`${name}, which this release doesn't know, would fall away: ${then}`];
    if (!now[name]) return [`${name} would fall away: ${then}`];
    return [`${name} would be ${next}, and was ${then || 'not given'}`];
  });
}
