import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { nameRelease, deploymentProblem, release, tableState, type Table } from '../release.ts';
import type { Framework, Template } from './framework.ts';
import { lossesBetween } from './template-changes.ts';

/**
 * Rejects a deployment over a table of another release, and one that would lose a stage's data or addresses.
 * The first check runs when the framework has read its configuration, and has neither packaged nor sent
 * anything.
 */
export default class CheckRelease {
  readonly hooks: Record<string, () => Promise<void>>;
  /** The template of the stack, empty before the first deployment. Undefined if nothing will be deployed. */
  #deployed: Template | undefined;

  constructor(framework: Framework) {
    this.hooks = {
      initialize: async () => {
        const command = framework.processedInput.commands.join(' ');
        if (command !== 'deploy' && command !== 'deploy function') return;
        await rejectOtherRelease(framework);
        if (command === 'deploy') this.#deployed = await deployedTemplate(framework);
      },
      'before:deploy:deploy': async () => {
        if (this.#deployed) rejectLosses(framework, this.#deployed);
      },
      'after:aws:deploy:deploy:updateStack': async () => {
        await nameRelease(await tableOf(framework), release);
      },
    };
  }
}

async function rejectOtherRelease(framework: Framework): Promise<void> {
  const table = await tableOf(framework);
  const place = `--region ${framework.getProvider('aws').getRegion()} --table ${table.name}`;
  const problem = deploymentProblem(
    table,
    await tableState(table),
    release,
    `npm run admin -- upgrade ${place}`,
  );
  if (problem !== undefined) throw new framework.classes.Error(problem);
}

/** Uses the operator's credentials as the framework finds them. */
async function tableOf(framework: Framework): Promise<Table> {
  const settings = await framework.getProvider('aws').getAwsSdkV3Config();
  return { client: new DynamoDBClient(settings), name: framework.service.custom.tableName };
}

async function deployedTemplate(framework: Framework): Promise<Template> {
  const { CloudFormationClient, GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient(await framework.getProvider('aws').getAwsSdkV3Config());
  const StackName = `${framework.service.service}-${framework.getProvider('aws').getStage()}`;
  const deployed = await client.send(new GetTemplateCommand({ StackName })).catch((error: Error) => {
    // There is no stack yet.
    if (error.name === 'ValidationError') return undefined;
    throw error;
  });
  // It is empty if the first deployment stopped after its change set was created.
  return JSON.parse(deployed?.TemplateBody || '{"Resources":{}}');
}

/** A changed bucketName, or a removed domain or distribution, would break a running stage for its callers. */
function rejectLosses({ service, classes }: Framework, deployed: Template): void {
  const accepted = (process.env.ACCEPT_LOSS ?? '').split(',');
  const nameOf = (loss: string) => String(loss.split(/[: ]/)[0]);
  const losses = lossesBetween(deployed, service.provider.compiledCloudFormationTemplate).filter(
    (loss) => !accepted.includes(nameOf(loss)),
  );
  if (losses.length === 0) return;
  const names = [...new Set(losses.map(nameOf))].join(',');
  throw new classes.Error(
    `The stage would lose what it keeps: ${losses.join('; ')}. Deploy with the parameters of before. If nothing needs it any more (docs/deploy.md, "Change parameters"), set the variable ACCEPT_LOSS=${names}.`,
  );
}
