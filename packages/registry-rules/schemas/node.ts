import * as z from 'zod/mini';
import { clearable, plainText, sentBackFields, tags, texts, Timestamp } from './fields.ts';
import { NodeVersion } from './node-version.ts';
import { Publisher } from './publisher.ts';
import { isRunByPage } from '../web-address.ts';

const nodeStatuses = ['NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned'] as const;
export type NodeStatus = (typeof nodeStatuses)[number];

/** A text that names a place, stored as sent: a URL of any kind, `git@host:path`, a relative path. */
const place = z
  .string()
  .check(z.refine((value) => !isRunByPage(value), 'must not be a URL that runs code, such as javascript:'));

const translations = z
  .unknown()
  .check(
    z.refine(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'must be an object',
    ),
  )
  .with(
    z.meta({
      type: 'object',
      additionalProperties: true,
      description: 'Translations of node metadata: each language has any value',
    }),
  );

const fields = {
  author: z.string().with(z.describe('Who wrote the node')),
  banner_url: place.with(z.describe('URL to the node banner')),
  category: z.string().with(
    z.meta({
      description: 'Deprecated; use tags; to be removed in a future version',
      deprecated: true,
    }),
  ),
  created_at: Timestamp.with(z.describe('Creation time of the node')),
  description: z.string().with(z.describe('What the node does')),
  downloads: z.int().with(z.describe('Number of downloads')),
  repo_stars: z.int().with(z.describe('Stars on the source repository')),
  icon: place.with(z.describe('URL to the node icon')),
  id: z.string().with(z.describe('Unique identifier of the node')),
  latest_version: NodeVersion,
  license: z.string().with(z.describe('Path to the LICENSE file in the repository')),
  name: plainText.with(z.describe('Display name')),
  preempted_host_node_names: texts().with(z.describe('Host node names preempted by this node')),
  publisher: Publisher,
  rating: z.number().with(z.describe('Average rating')),
  repository: place.with(z.describe('URL to the repository')),
  search_ranking: z.int().with(z.describe('Used for sorting search results')),
  status: z
    .enum(nodeStatuses)
    .with(
      z.describe('An owner withdraws a node with NodeStatusDeleted and restores it with NodeStatusActive'),
    ),
  status_detail: z.string().with(z.describe('Why the node has its status')),
  supported_accelerators: texts().with(z.describe('Accelerator kinds the node supports')),
  supported_host_frontend_version: z.string().with(z.describe('Supported host frontend versions')),
  supported_host_version: z.string().with(z.describe('Supported host versions')),
  supported_os: texts().with(z.describe('Operating systems supported')),
  tags: tags().with(z.describe('Words to find the node by')),
  tags_admin: texts().with(z.describe('Admin-only tags for security warnings and admin metadata')),
  translations,
};

/** Fields that only admins may change. */
export const adminNodeFields = ['preempted_host_node_names', 'search_ranking', 'tags_admin'] as const;

const { created_at, downloads, repo_stars, latest_version, publisher, rating, ...writable } = fields;

/**
 * A caller's input for a node. Clients send back a whole Node that they have read, so fields that the service
 * computes are accepted and ignored, and those of admins are accepted if unchanged.
 */
export const NodeInput = z.object({
  ...clearable(writable),
  id: z
    .optional(z.unknown())
    .with(z.describe('Unique identifier of the node, as in the path; any other type is ignored')),
  status: z
    .nullish(z.enum([...nodeStatuses, '']))
    .with(
      z.describe(
        'An owner withdraws a node with NodeStatusDeleted and restores it with NodeStatusActive; empty keeps it',
      ),
    ),
});
export type NodeInput = z.infer<typeof NodeInput>;

export const Node = z.partial(z.object(fields)).with(z.meta({ id: 'Node' }));
export type Node = z.infer<typeof Node>;
NodeInput.register(sentBackFields, { names: Object.keys(Node.shape) });
