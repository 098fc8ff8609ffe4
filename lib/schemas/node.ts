import * as z from 'zod/mini';
import { clearable } from './clearable.ts';
import { freeFormIssue } from './free-form.ts';
import { texts } from './lists.ts';
import { NodeVersion } from './node-version.ts';
import { Publisher } from './publisher.ts';
import { Timestamp } from './timestamp.ts';
import { isWebAddress } from '../web-address.ts';

const nodeStatuses = ['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned'] as const;
export type NodeStatus = (typeof nodeStatuses)[number];

/** Clients send "" for an address they do not have. */
const webAddress = z
  .string()
  .check(
    z.refine((value) => value === '' || isWebAddress(value.trim()), 'must be empty or an http or https URL'),
    z.trim(),
  )
  .with(z.meta({ format: 'uri' }));

const Translations = z
  .pipe(
    // Checked as a whole first: a body can hold a million languages, and each wrong one would make an issue.
    z.transform((value: Record<string, Record<string, unknown>>, context) => {
      const message = freeFormIssue(value);
      if (message === undefined) return value;
      context.issues.push({ code: 'custom', input: value, message });
      return z.NEVER;
    }),
    z.record(z.string(), z.record(z.string(), z.unknown())),
  )
  .with(z.describe('Translations of node metadata per language'));

const ownerFields = {
  author: z.string(),
  banner_url: webAddress.with(z.describe('URL to the node banner')),
  category: z.string().with(
    z.meta({
      description: 'Deprecated; use tags; to be removed in a future version',
      deprecated: true,
    }),
  ),
  description: z.string(),
  icon: webAddress.with(z.describe('URL to the node icon')),
  license: z.string().with(z.describe('Path to the LICENSE file in the repository')),
  name: z.string().with(z.describe('Display name')),
  repository: webAddress.with(z.describe('URL to the repository')),
  supported_accelerators: texts().with(z.describe('Accelerator kinds the node supports')),
  supported_host_frontend_version: z.string().with(z.describe('Supported host frontend versions')),
  supported_host_version: z.string().with(z.describe('Supported host versions')),
  supported_os: texts().with(z.describe('Operating systems supported')),
  tags: texts(),
  translations: Translations,
};

const adminFields = {
  preempted_host_node_names: texts().with(z.describe('Host node names preempted by this node')),
  search_ranking: z.int32().with(z.describe('Used for sorting search results')),
  status_detail: z.string(),
  tags_admin: texts().with(z.describe('Admin-only tags for security warnings and admin metadata')),
};

const serviceFields = {
  created_at: Timestamp.with(z.describe('Creation time of the node')),
  downloads: z.int().with(z.describe('Number of downloads')),
  repo_stars: z.int().with(z.describe('Stars on the source repository')),
  id: z.string().with(z.describe('Unique identifier of the node')),
  latest_version: NodeVersion,
  publisher: Publisher,
  rating: z.number().with(z.describe('Average rating')),
};

/**
 * What a caller may say of a node. Clients send a whole Node back that they have read, so the fields that the
 * service sets itself are accepted and ignored, and those of admins are ignored from anyone else.
 */
export const NodeInput = z.object({
  ...clearable(ownerFields),
  ...clearable(adminFields),
  status: z.nullish(z.enum([...nodeStatuses, ''])).with(z.describe('For admins; empty keeps it')),
});
export type NodeInput = z.infer<typeof NodeInput>;

export const Node = z
  .partial(z.object({ ...ownerFields, ...adminFields, ...serviceFields, status: z.enum(nodeStatuses) }))
  .with(z.meta({ id: 'Node' }));
export type Node = z.infer<typeof Node>;

export const adminNodeFields: readonly string[] = [...Object.keys(adminFields), 'status'];
