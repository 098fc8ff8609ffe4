import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { nameRelease, problemOf, release, stateOf, type Table } from '../release.ts';
import { runFirst, silenceFirst } from './first-run.ts';
import type { Framework } from './framework.ts';
import { lossesBetween } from './template-changes.ts';

const commands = ['deploy', 'deploy function'];

/**
 * Rejects a deployment over a table of another release, and one that would take away what a stage keeps. The first runs
 * when the framework has read its configuration, and has neither packaged nor sent anything.
 */
export default class CheckRelease {
  readonly hooks: Record<string, () => Promise<void>>;
  #isNew = false;

  constructor(framework: Framework) {
    this.hooks = {
      initialize: async () => {
        if (!commands.includes(framework.processedInput.commands.join(' '))) return;
        const table = await tableOf(framework);
        const state = await stateOf(table);
        const place = `--region ${framework.getProvider('aws').getRegion()} --table ${table.name}`;
        const problem = problemOf(table, state, release, `npm run admin -- upgrade ${place}`);
        if (problem !== undefined) throw new framework.classes.Error(problem);
        this.#isNew = state === 'absent' || state === 'empty';
      },
      'after:aws:package:finalize:mergeCustomProviderResources': async () => {
        if (this.#isNew) silenceFirst(framework.service.provider.compiledCloudFormationTemplate);
      },
      'before:deploy:deploy': () => rejectLosses(framework),
      'after:aws:deploy:deploy:updateStack': async () => {
        if (!this.#isNew) return;
        await nameRelease(await tableOf(framework), release);
        await runFirst(framework);
      },
    };
  }
}

/** With the operator's credentials as the framework finds them. */
async function tableOf(framework: Framework): Promise<Table> {
  const settings = await framework.getProvider('aws').getAwsSdkV3Config();
  return { client: new DynamoDBClient(settings), name: framework.service.custom.tableName };
}

/** Another bucketName, a domain or a distribution that is gone: parameters of a living stage can lose what callers have. */
async function rejectLosses(framework: Framework): Promise<void> {
  const { service } = framework;
  const { CloudFormationClient, GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient(await framework.getProvider('aws').getAwsSdkV3Config());
  const StackName = `${service.service}-${framework.getProvider('aws').getStage()}`;
  const deployed = await client.send(new GetTemplateCommand({ StackName })).catch((error: Error) => {
    // There is no stack yet.
    if (error.name === 'ValidationError') return undefined;
    throw error;
  });
  const before = JSON.parse(deployed?.TemplateBody ?? '{"Resources":{}}');
  const accepted = (process.env.ACCEPT_LOSS ?? '').split(',');
  const losses = lossesBetween(before, service.provider.compiledCloudFormationTemplate).filter(
    (loss) => !accepted.includes(String(loss.split(/[: ]/)[0])),
  );
  if (losses.length === 0) return;
  const names = [...new Set(losses.map((loss) => loss.split(/[: ]/)[0]))].join(',');
  throw new framework.classes.Error(
    `With these parameters the stage would lose what it keeps: ${losses.join('; ')}. Deploy with the parameters of before. If nobody needs it any more (docs/deploy.md, Upgrade), set ACCEPT_LOSS=${names}.`,
  );
}
