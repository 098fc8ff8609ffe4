import { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import * as z from 'zod/mini';
import { contractsOf } from './contracts-of.ts';
import { moment, period } from './schemas.ts';

/* Who signs in, and what one has and spends. */

/** Fixed, because issuers compare redirects whole. */
export const loopbackPorts = [8976, 18976, 28976] as const;

const limit = (what: string) => z.int().with(z.describe(`${what}; 0: no limit`));

export const Task = z.object({
  at: moment('When it began'),
  operation: z.string().with(z.describe('The operation')),
  model: z.optional(z.string()).with(z.describe('The model')),
  request_id: z.string().with(z.describe('The x-request-id')),
  payment: z
    .enum(['sent', 'taken', 'rejected', 'unknown'])
    .with(z.describe('Whether it bought something; `sent` while that is open')),
  credits: z.int().with(z.describe('What counts for it')),
  task_id: z.optional(z.string()).with(z.describe('The provider’s id')),
  final_state: z
    .optional(z.enum(['created', 'processing', 'queueing', 'success', 'failed']))
    .with(z.describe('How it ended, once that is known')),
  final_at: z.optional(moment('When it ended')),
  status_url: z
    .optional(z.string())
    .with(z.describe('A file with the task’s state and films, as `Link` of the answer named it')),
});

export const contracts = contractsOf({
  signInSettings: {
    route: 'GET /users/sign-in',
    summary: 'How to sign in',
    description:
      'Where and as which OpenID Connect client a program or a page signs a person in: authorization code with PKCE, or a device code if the issuer has it.',
    access: 'anyone',
    reply: z.object({
      issuer: z.string().with(z.describe('The issuer, whose metadata has its endpoints')),
      client_id: z.optional(z.string()).with(z.describe('The public client; absent if none is registered')),
      scopes: z.array(z.string()).with(z.describe('The scopes to ask for')),
      audience: z
        .string()
        .with(z.describe('The `audience` or `resource` to ask for, if the issuer takes one')),
      token: z
        .enum(['access_token', 'id_token'])
        .with(z.describe('Which token of the response this service takes')),
      loopback_ports: z.array(z.int()).with(z.describe('The ports of redirects to http://localhost')),
      account_url: z
        .optional(z.string())
        .with(z.describe('The page for people; absent if the stage has none')),
    }),
  },
  getUser: {
    route: 'GET /users',
    summary: 'Who I am',
    description: 'The person that the access token names.',
    reply: z.object({
      id: z.string().with(z.describe('The user, as access tokens name it')),
      member_id: z.string().with(z.describe('The id of this person as a member of a publisher')),
      email: z.optional(z.string()).with(z.describe('A verified address, if the deployment reads it')),
      isAdmin: z.boolean().with(z.describe('Whether this is an administrator')),
      isApproved: z.boolean().with(z.describe('Whether this person may do more than read')),
    }),
  },
  listPublishersForUser: {
    route: 'GET /users/publishers',
    summary: 'My publishers',
    description: 'The publishers that the person is a member of. The path may end with a slash.',
    reply: z.array(Publisher),
  },
  getSpending: {
    route: 'GET /users/spending',
    summary: 'What I may spend, and have spent',
    description: 'Credits and tasks by UTC day, of up to 31 days. Of a day, the latest 2,000 requests count.',
    query: period,
    reply: z.object({
      may_spend: z.boolean().with(z.describe('Whether this person may call the proxies')),
      reason: z.optional(z.string()).with(z.describe('Why not')),
      limits: z
        .object({
          credits_per_day: limit('Credits a UTC day'),
          tasks_per_day: limit('Tasks a UTC day'),
          requests_per_minute: limit('Paid requests a minute'),
        })
        .with(z.describe('The limits of this person')),
      today: z
        .object({
          credits: z.int().with(z.describe('Credits counted today, with what open requests may cost')),
          tasks: z.int().with(z.describe('Tasks counted today')),
        })
        .with(z.describe('What counts for the limits of this UTC day')),
      days: z
        .array(
          z.object({
            day: z.string().with(z.describe('The UTC day')),
            credits: z.int().with(z.describe('Credits')),
            tasks: z.int().with(z.describe('Tasks that were started')),
            unknown: z.int().with(z.describe('Requests with an unknown outcome, which count in full')),
          }),
        )
        .with(z.describe('Days with any, the first one first')),
    }),
  },
  listTasks: {
    route: 'GET /users/tasks',
    summary: 'My tasks',
    description: 'The latest 200 paid requests of up to 31 days, the latest first.',
    query: period,
    reply: z.object({
      tasks: z.array(Task).with(z.describe('Paid requests')),
      has_more: z.boolean().with(z.describe('Whether the period has older ones')),
    }),
  },
});
