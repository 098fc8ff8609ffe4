import * as z from 'zod/mini';
import { HostNode } from './host-node.ts';
import { Node } from './node.ts';
import { NodeVersion } from './node-version.ts';
import { Publisher } from './publisher.ts';
import { Timestamp } from './fields.ts';

/*
 * The public index: static files that anyone may read. The fields are the contract's, without those of
 * administrators and without the publisher's members.
 */

const revision = z.optional(z.int()).with(z.describe('Counts the writes of this file'));

const { members: _members, ...publisherFields } = Publisher.shape;
export const PublicPublisher = z.object(publisherFields).with(z.meta({ id: 'PublicPublisher' }));
export type PublicPublisher = z.infer<typeof PublicPublisher>;

const { tags_admin: _versionTags, ...versionFields } = NodeVersion.shape;
export const PublicVersion = z
  .object({
    ...versionFields,
    downloads: z.optional(z.int()).with(z.describe('Number of downloads of this version')),
    changelog_is_cut: z
      .optional(z.boolean())
      .with(
        z.describe(
          'Whether the change log has over 2 KB: the file of the version’s host nodes has all of it',
        ),
      ),
  })
  .with(
    z.meta({
      id: 'PublicVersion',
      description:
        'A published version. Its bytes never change. One that is withdrawn (`NodeVersionStatusDeleted`) is for those who name it: leave it out of lists, and do not choose it for others.',
    }),
  );
export type PublicVersion = z.infer<typeof PublicVersion>;

const { tags_admin: _nodeTags, latest_version: _latest, publisher: _publisher, ...nodeFields } = Node.shape;
export const IndexedNode = z
  .object({
    revision,
    ...nodeFields,
    publisher: z.optional(PublicPublisher).with(z.describe('Who owns the node')),
    latest_version: z.optional(PublicVersion).with(z.describe('The version to install')),
    downloads_90_days: z.optional(z.int()).with(z.describe('Downloads of the last 90 days')),
    downloads_by_day: z
      .optional(z.record(z.string(), z.int()))
      .with(z.describe('Downloads of each UTC day of the last 90 that has any')),
    versions: z
      .array(PublicVersion)
      .with(
        z.describe(
          'All published versions, withdrawn ones as well, highest precedence first; empty if the node is banned',
        ),
      ),
  })
  .with(
    z.meta({
      id: 'IndexedNode',
      description:
        'A node as the public index has it: `index/v1/nodes/<id>.json`, with the id in folded form.',
    }),
  );
export type IndexedNode = z.infer<typeof IndexedNode>;

export const IndexedHostNodes = z
  .object({
    revision,
    node_id: z.string().with(z.describe('Owning node')),
    version: z.string().with(z.describe('Version label in normal form')),
    host_node_extract_status: z.optional(NodeVersion.shape.host_node_extract_status),
    host_node_extract_reason: z.optional(NodeVersion.shape.host_node_extract_reason),
    changelog: z
      .optional(z.string())
      .with(z.describe('The change log of the version, if it has over 2 KB and the version is offered')),
    host_nodes: z.array(HostNode).with(z.describe('Sorted by name; empty if the version is not offered')),
  })
  .with(
    z.meta({
      id: 'IndexedHostNodes',
      description: 'The host nodes of a version: `index/v1/nodes/<id>/<version>/host-nodes.json`.',
    }),
  );
export type IndexedHostNodes = z.infer<typeof IndexedHostNodes>;

export const IndexedReadme = z
  .object({
    revision,
    node_id: z.string().with(z.describe('Owning node')),
    version: z.optional(z.string()).with(z.describe('The latest version; absent if none is offered')),
    sha256: NodeVersion.shape.sha256,
    path: z
      .optional(z.string())
      .with(z.describe('The name of the file in the archive; absent if there is no README')),
    text: z.string().with(z.describe('The first 200,000 bytes as the publisher wrote them: sanitize it')),
    html: z
      .optional(z.string())
      .with(z.describe('The same as sanitized HTML; empty if it is to be shown as plain text')),
    is_cut: z.optional(z.boolean()).with(z.describe('Whether the file is longer')),
  })
  .with(
    z.meta({
      id: 'IndexedReadme',
      description: 'The README of the latest version: `index/v1/nodes/<id>/readme.json`.',
    }),
  );
export type IndexedReadme = z.infer<typeof IndexedReadme>;

export const CatalogEntry = z
  .object({
    id: z.string().with(z.describe('Unique identifier of the node')),
    name: z.optional(z.string()).with(z.describe('Display name')),
    description: z.optional(z.string()).with(z.describe('The first 300 characters')),
    icon: z.optional(z.string()).with(z.describe('URL to the node icon')),
    tags: z.optional(z.array(z.string())).with(z.describe('Tags of the node')),
    publisher: z
      .object({
        id: z.string().with(z.describe('Unique identifier of the publisher')),
        name: z.optional(z.string()).with(z.describe('Display name')),
      })
      .with(z.describe('Who owns the node')),
    latest_version: z.optional(z.string()).with(z.describe('Version label')),
    versions: z.optional(z.int()).with(z.describe('How many published versions the node has')),
    supported_os: NodeVersion.shape.supported_os,
    supported_accelerators: NodeVersion.shape.supported_accelerators,
    host_nodes: z.optional(z.int()).with(z.describe('How many host nodes that version has')),
    host_node_words: z
      .optional(z.string())
      .with(
        z.describe(
          'For searches: words of its translations, and of the names and titles of its host nodes, up to 2,000 letters, without those that this entry has anyway',
        ),
      ),
    preempted_host_node_names: z
      .optional(z.array(z.string()))
      .with(z.describe('Host node names preempted by this node: a search for one finds it first')),
    search_ranking: z.optional(z.int()).with(z.describe('Used for sorting search results')),
    downloads: z.optional(z.int()).with(z.describe('Number of downloads')),
    downloads_30_days: z.optional(z.int()).with(z.describe('Downloads of the last 30 days')),
    downloads_90_days: z
      .optional(z.int())
      .with(
        z.describe('Downloads of the last 90 days: the order of nodes without a ranking, before their names'),
      ),
    created_at: z.optional(Timestamp).with(z.describe('Creation time of the node')),
    updated_at: Timestamp.with(z.describe('When that version was published, or the node created')),
  })
  .with(z.meta({ id: 'CatalogEntry', description: 'A node in lists and searches.' }));
export type CatalogEntry = z.infer<typeof CatalogEntry>;

export const PublisherProfile = z
  .object({
    ...PublicPublisher.shape,
    id: z.string().with(z.describe('Unique identifier of the publisher')),
    member_names: z.optional(z.array(z.string())).with(z.describe('Display names of its members')),
  })
  .with(z.meta({ id: 'PublisherProfile', description: 'A publisher, for its page.' }));
export type PublisherProfile = z.infer<typeof PublisherProfile>;

export const Publishers = z
  .object({ revision, publishers: z.array(PublisherProfile).with(z.describe('Sorted by id')) })
  .with(
    z.meta({
      id: 'Publishers',
      description: 'All publishers that are not banned: `index/v1/catalog/publishers.json`.',
    }),
  );
export type Publishers = z.infer<typeof Publishers>;

export const CatalogPiece = z
  .object({ revision, nodes: z.array(CatalogEntry).with(z.describe('Sorted by id')) })
  .with(
    z.meta({
      id: 'CatalogPiece',
      description:
        'One piece of the catalog: `index/v1/catalog/<pieces>/<piece>.json`. It holds active nodes only.',
    }),
  );
export type CatalogPiece = z.infer<typeof CatalogPiece>;

export const TopNodes = z
  .object({
    revision,
    source: z.string().with(z.describe('Of which catalog: it changes with any piece')),
    nodes: z.array(CatalogEntry).with(z.describe('Most used first, without `host_node_words`')),
  })
  .with(
    z.meta({
      id: 'TopNodes',
      description:
        'The most used nodes, and all with a `search_ranking`: `index/v1/top.json`. It follows the catalog within minutes.',
    }),
  );
export type TopNodes = z.infer<typeof TopNodes>;

export const IndexConfig = z
  .object({
    revision,
    version: z.literal(1).with(z.describe('The layout of the files')),
    catalog_pieces: z.int().with(z.describe('How many pieces the catalog has')),
    next_pieces: z
      .optional(z.int())
      .with(z.describe('How many it is about to have: they are being filled, and readers need not look')),
    updated_at: Timestamp.with(z.describe('When that number changed')),
  })
  .with(z.meta({ id: 'IndexConfig', description: '`index/v1/config.json`: read it first.' }));
export type IndexConfig = z.infer<typeof IndexConfig>;
