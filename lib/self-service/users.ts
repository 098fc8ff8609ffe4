import { latestAttempts, spendingOf } from '../attempts/own-usage.ts';
import { downloadUrl } from '../bucket/object-keys.ts';
import { memberIdOf } from '../caller.ts';
import * as config from '../config.ts';
import { contracts, loopbackPorts, Task } from '../contracts/self-service/users.ts';
import { taskRecord } from '../notifications/records.ts';
import { publisherFor, publishersOf } from '../registry/publishers.ts';
import { pickFields } from '../registry/records.ts';
import { taskHashOf, taskKey } from '../store/keys.ts';
import { readAll } from '../store/read.ts';
import { emailOf, peopleRoutes } from './people.ts';

export const userRoutes = peopleRoutes(contracts, {
  async signInSettings() {
    const { TOKEN_ISSUER, TOKEN_AUDIENCE, ID_TOKENS } = config.tokens();
    const { LOGIN_ISSUER, LOGIN_CLIENT_ID, LOGIN_SCOPES, LOGIN_AUDIENCE, ACCOUNT_URL } = config.signIn();
    return {
      issuer: LOGIN_ISSUER ?? TOKEN_ISSUER,
      ...(LOGIN_CLIENT_ID !== undefined && { client_id: LOGIN_CLIENT_ID }),
      scopes: LOGIN_SCOPES.split(' '),
      audience: LOGIN_AUDIENCE ?? TOKEN_AUDIENCE,
      token: ID_TOKENS === 'accepted' ? ('id_token' as const) : ('access_token' as const),
      loopback_ports: [...loopbackPorts],
      ...(ACCOUNT_URL !== undefined && { account_url: ACCOUNT_URL }),
    };
  },
  getUser: async ({ caller }) => ({
    id: caller.userId,
    member_id: memberIdOf(caller.userId),
    email: emailOf(caller),
    isAdmin: caller.isAdmin,
    isApproved: true,
  }),
  listPublishersForUser: async ({ caller, context }) =>
    (await publishersOf(context, caller.userId)).map((publisher) => publisherFor(caller, publisher)),
  getSpending: ({ query, caller, context }) => spendingOf(context, caller, query),
  async listTasks({ query, caller, context }) {
    const { attempts, hasMore } = await latestAttempts(context, caller, query, maxTasks);
    const hashes = attempts.flatMap(({ task_hash }) => task_hash ?? []);
    const tasks = (await readAll(context, hashes.map(taskKey))).map(taskRecord);
    const statuses = new Map(tasks.map((task) => [taskHashOf(task), task.status_key]));
    const shown = attempts.map(({ task_hash = '', ...attempt }) => {
      const status_key = statuses.get(task_hash);
      const status_url = status_key === undefined ? undefined : downloadUrl(status_key);
      return pickFields({ ...attempt, ...(status_url && { status_url }) }, Task);
    });
    return { tasks: shown, has_more: hasMore };
  },
});

const maxTasks = 200;
