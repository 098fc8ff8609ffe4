import * as z from 'zod/mini';
import { Timestamp } from './timestamp.ts';

export const PublisherRole = z
  .enum(['owner', 'member'])
  .with(z.describe('Owners edit and publish, members publish'));
export type PublisherRole = z.infer<typeof PublisherRole>;

export const Publisher = z
  .partial(
    z.object({
      createdAt: Timestamp.with(z.describe('Creation time of the publisher')),
      description: z.string(),
      id: z.string().with(z.describe('Unique identifier of the publisher')),
      logo: z.string().with(z.describe('URL to the logo')),
      members: z.array(
        z.object({
          id: z.string(),
          role: PublisherRole,
          user: z.partial(
            z.object({
              id: z.string(),
              name: z.string(),
              email: z.string().with(z.describe('Shown to owners and admins only')),
            }),
          ),
        }),
      ),
      name: z.string().with(z.describe('Display name')),
      source_code_repo: z.string(),
      support: z.string(),
      website: z.string(),
    }),
  )
  .with(z.meta({ id: 'Publisher' }));
export type Publisher = z.infer<typeof Publisher>;
