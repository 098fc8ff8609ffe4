import { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import * as z from 'zod/mini';
import { contractsOf, moment, text, whole } from './contracts-of.ts';

/* Who signs in, and what one has and spends. */

/** Fixed, because issuers compare redirects whole. */
export const loopbackPorts = [8976, 18976, 28976] as const;

const UtcDay = z.string().check(
  z.regex(/^\d{4}-\d\d-\d\d$/),
  z.refine((day) => !Number.isNaN(Date.parse(day)), 'must be a day'),
);
const period = z.object({
  from: z.optional(UtcDay).with(z.describe('The first UTC day; 30 days ago if absent')),
  to: z.optional(UtcDay).with(z.describe('The last UTC day; today if absent')),
});

const limit = (what: string) => whole(`${what}; 0: no limit`);

export const Task = z.object({
  at: moment('When it began'),
  operation: text('The operation'),
  model: z.optional(text('The model')),
  request_id: text('The x-request-id'),
  payment: z
    .enum(['sent', 'taken', 'rejected', 'unknown'])
    .with(z.describe('Whether it bought something; `sent` while that is open')),
  credits: whole('What counts for it'),
  task_id: z.optional(text('The provider’s id')),
  final_state: z
    .optional(z.enum(['created', 'processing', 'queueing', 'success', 'failed']))
    .with(z.describe('How it ended, once that is known')),
  final_at: z.optional(moment('When it ended')),
  status_url: z.optional(text('A file with the task’s state and films, as `Link` of the response named it')),
});

export const contracts = contractsOf({
  signInSettings: {
    route: 'GET /users/sign-in',
    summary: 'How to sign in',
    description:
      'Where and as which OpenID Connect client a program or a page signs a person in: authorization code with PKCE, or a device code if the issuer has it.',
    access: 'anyone',
    reply: z.object({
      issuer: text('The issuer, whose metadata has its endpoints'),
      client_id: z.optional(text('The public client; absent if none is registered')),
      scopes: z.array(z.string()).with(z.describe('The scopes to ask for')),
      audience: text('The `audience` or `resource` to ask for, if the issuer takes one'),
      token: z
        .enum(['access_token', 'id_token'])
        .with(z.describe('Which token of the response this service takes')),
      loopback_ports: z.array(z.int()).with(z.describe('The ports of redirects to http://localhost')),
      account_url: z.optional(text('The page for people; absent if the stage has none')),
    }),
  },
  getUser: {
    route: 'GET /users',
    summary: 'Who I am',
    description: 'The person that the access token names.',
    reply: z.object({
      id: text('The user, as access tokens name it'),
      member_id: text('The id of this person as a member of a publisher'),
      email: z.optional(text('A verified address, if the deployment reads it')),
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
      reason: z.optional(text('Why not')),
      limits: z
        .object({
          credits_per_day: limit('Credits a UTC day'),
          tasks_per_day: limit('Tasks a UTC day'),
          requests_per_minute: limit('Paid requests a minute'),
        })
        .with(z.describe('The limits of this person')),
      today: z
        .object({
          credits: whole('Credits counted today, with what open requests may cost'),
          tasks: whole('Tasks counted today'),
        })
        .with(z.describe('What counts for the limits of this UTC day')),
      days: z
        .array(
          z.object({
            day: text('The UTC day'),
            credits: whole('Credits'),
            tasks: whole('Tasks that were started'),
            unknown: whole('Requests with an unknown outcome, which count in full'),
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
