import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { nameRelease, problemOf, release, stateOf, type Table } from '../release.ts';
import type { Framework } from './framework.ts';

const commands = ['deploy', 'deploy function'];

/**
 * Rejects a deployment over a table of another release. It runs when the framework has read its configuration, and has
 * neither packaged nor sent anything.
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
      'after:aws:deploy:deploy:updateStack': async () => {
        if (this.#isNew) await nameRelease(await tableOf(framework), release);
      },
    };
  }
}

/** With the operator's credentials as the framework finds them. */
async function tableOf(framework: Framework): Promise<Table> {
  const settings: DynamoDBClientConfig = await framework.getProvider('aws').getAwsSdkV3Config();
  return { client: new DynamoDBClient(settings), name: framework.service.custom.tableName };
}
