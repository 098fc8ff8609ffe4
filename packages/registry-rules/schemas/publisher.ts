import * as z from 'zod/mini';
import { Timestamp } from './fields.ts';

export const PublisherRole = z
  .enum(['owner', 'member'])
  .with(z.describe('Owners edit and publish, members publish'));
export type PublisherRole = z.infer<typeof PublisherRole>;

export const Member = z.object({
  id: z.string().with(z.describe('Unique identifier of the member')),
  role: PublisherRole,
  user: z
    .partial(
      z.object({
        email: z.string().with(z.describe('Shown to owners and admins only')),
        id: z.string().with(z.describe('The user, as access tokens name it')),
        name: z.string().with(z.describe('Display name')),
      }),
    )
    .with(z.describe('The person')),
});

export const Publisher = z
  .partial(
    z.object({
      createdAt: Timestamp.with(z.describe('Creation time of the publisher')),
      description: z.string().with(z.describe('What the publisher does')),
      id: z.string().with(z.describe('Unique identifier of the publisher')),
      logo: z.string().with(z.describe('URL to the logo')),
      members: z.array(Member).with(z.describe('Who may publish for the publisher, and who edits')),
      name: z.string().with(z.describe('Display name')),
      source_code_repo: z.string().with(z.describe('Where the source code is')),
      support: z.string().with(z.describe('Where to get help')),
      website: z.string().with(z.describe('Home page')),
    }),
  )
  .with(z.meta({ id: 'Publisher' }));
export type Publisher = z.infer<typeof Publisher>;
