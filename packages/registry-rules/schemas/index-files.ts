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

/** A file of the index, or a part of one. */
function file<Shape extends z.core.$ZodShape>(id: string, description: string, shape: Shape) {
  return z.object(shape).with(z.meta({ id, description }));
}

function maybe<Schema extends z.ZodMiniType>(schema: Schema, description: string) {
  return z.optional(schema).with(z.describe(description));
}

const revision = maybe(z.int(), 'Counts the writes of this file');

const { members: _members, ...publisherFields } = Publisher.shape;
export const PublicPublisher = z.object(publisherFields).with(z.meta({ id: 'PublicPublisher' }));
export type PublicPublisher = z.infer<typeof PublicPublisher>;

const { tags_admin: _versionTags, ...versionFields } = NodeVersion.shape;
export const PublicVersion = file(
  'PublicVersion',
  'A published version. Its bytes never change. One that is withdrawn (`NodeVersionStatusDeleted`) is for those who name it: leave it out of lists, and do not choose it for others.',
  {
    ...versionFields,
    downloads: maybe(z.int(), 'Number of downloads of this version'),
    changelog_is_cut: maybe(
      z.boolean(),
      'Whether the change log has over 2 KB: the file of the version’s host nodes has all of it',
    ),
  },
);
export type PublicVersion = z.infer<typeof PublicVersion>;

const { tags_admin: _nodeTags, latest_version: _latest, publisher: _publisher, ...nodeFields } = Node.shape;
export const IndexedNode = file(
  'IndexedNode',
  'A node as the public index has it: `index/v1/nodes/<id>.json`, with the id in folded form.',
  {
    revision,
    ...nodeFields,
    publisher: maybe(PublicPublisher, 'Who owns the node'),
    latest_version: maybe(PublicVersion, 'The version to install'),
    downloads_90_days: maybe(z.int(), 'Downloads of the last 90 days'),
    downloads_by_day: maybe(
      z.record(z.string(), z.int()),
      'Downloads of each UTC day of the last 90 that has any',
    ),
    versions: z
      .array(PublicVersion)
      .with(
        z.describe(
          'All published versions, withdrawn ones as well, highest precedence first; empty if the node is banned',
        ),
      ),
  },
);
export type IndexedNode = z.infer<typeof IndexedNode>;

export const IndexedHostNodes = file(
  'IndexedHostNodes',
  'The host nodes of a version: `index/v1/nodes/<id>/<version>/host-nodes.json`.',
  {
    revision,
    node_id: z.string().with(z.describe('Owning node')),
    version: z.string().with(z.describe('Version label in normal form')),
    host_node_extract_status: z.optional(NodeVersion.shape.host_node_extract_status),
    host_node_extract_reason: z.optional(NodeVersion.shape.host_node_extract_reason),
    changelog: maybe(
      z.string(),
      'The change log of the version, if it has over 2 KB and the version is offered',
    ),
    host_nodes: z.array(HostNode).with(z.describe('Sorted by name; empty if the version is not offered')),
  },
);
export type IndexedHostNodes = z.infer<typeof IndexedHostNodes>;

export const IndexedReadme = file(
  'IndexedReadme',
  'The README of the latest version: `index/v1/nodes/<id>/readme.json`.',
  {
    revision,
    node_id: z.string().with(z.describe('Owning node')),
    version: maybe(z.string(), 'The latest version; absent if none is offered'),
    sha256: NodeVersion.shape.sha256,
    path: maybe(z.string(), 'The name of the file in the archive; absent if there is no README'),
    text: z.string().with(z.describe('The first 200,000 bytes as the publisher wrote them: sanitize it')),
    html: maybe(z.string(), 'The same as sanitized HTML; empty if it is to be shown as plain text'),
    is_cut: maybe(z.boolean(), 'Whether the file is longer'),
  },
);
export type IndexedReadme = z.infer<typeof IndexedReadme>;

export const CatalogEntry = file('CatalogEntry', 'A node in lists and searches.', {
  id: z.string().with(z.describe('Unique identifier of the node')),
  name: maybe(z.string(), 'Display name: the first 200 characters'),
  description: maybe(z.string(), 'The first 300 characters'),
  icon: maybe(z.string(), 'URL to the node icon, if it has up to 2,000 characters'),
  tags: maybe(z.array(z.string()), 'The first tags of the node, of up to 1,000 characters together'),
  publisher: z
    .object({
      id: z.string().with(z.describe('Unique identifier of the publisher')),
      name: maybe(z.string(), 'Display name'),
    })
    .with(z.describe('Who owns the node')),
  latest_version: maybe(z.string(), 'Version label'),
  versions: maybe(z.int(), 'How many published versions the node has'),
  supported_os: NodeVersion.shape.supported_os,
  supported_accelerators: NodeVersion.shape.supported_accelerators,
  host_nodes: maybe(z.int(), 'How many host nodes that version has'),
  host_node_words: maybe(
    z.string(),
    'For searches: words of its translations, name and tags, and of the names and titles of its host nodes, up to 2,000 letters, without those that this entry has anyway',
  ),
  preempted_host_node_names: maybe(
    z.array(z.string()),
    'Host node names preempted by this node: a search for one finds it first',
  ),
  search_ranking: maybe(z.int(), 'Used for sorting search results'),
  downloads: maybe(z.int(), 'Number of downloads'),
  downloads_30_days: maybe(z.int(), 'Downloads of the last 30 days'),
  downloads_90_days: maybe(
    z.int(),
    'Downloads of the last 90 days: the order of nodes without a ranking, before their names',
  ),
  created_at: maybe(Timestamp, 'Creation time of the node'),
  updated_at: Timestamp.with(z.describe('When that version was published, or the node created')),
});
export type CatalogEntry = z.infer<typeof CatalogEntry>;

export const PublisherProfile = file('PublisherProfile', 'A publisher, for its page.', {
  ...PublicPublisher.shape,
  id: z.string().with(z.describe('Unique identifier of the publisher')),
  description: maybe(z.string(), 'The first 2,000 characters'),
  source_code_repo: maybe(z.string(), 'Where the source code is, if that has up to 300 characters'),
  support: maybe(z.string(), 'Where to get help, if that has up to 300 characters'),
  website: maybe(z.string(), 'Home page, if that has up to 300 characters'),
  member_names: maybe(
    z.array(z.string()),
    'Display names of the first members, of up to 1,000 characters together',
  ),
});
export type PublisherProfile = z.infer<typeof PublisherProfile>;

export const Publishers = file(
  'Publishers',
  'All publishers that are not banned: `index/v1/catalog/publishers.json`.',
  { revision, publishers: z.array(PublisherProfile).with(z.describe('Sorted by id')) },
);
export type Publishers = z.infer<typeof Publishers>;

export const CatalogPiece = file(
  'CatalogPiece',
  'One piece of the catalog: `index/v1/catalog/<pieces>/<piece>.json`. It holds active nodes only.',
  { revision, nodes: z.array(CatalogEntry).with(z.describe('Sorted by id')) },
);
export type CatalogPiece = z.infer<typeof CatalogPiece>;

export const TopNodes = file(
  'TopNodes',
  'The most used nodes, and all with a `search_ranking`: `index/v1/top.json`. It follows the catalog within minutes.',
  {
    revision,
    source: z.string().with(z.describe('Of which catalog: it changes with any piece')),
    nodes: z.array(CatalogEntry).with(z.describe('Most used first, without `host_node_words`')),
  },
);
export type TopNodes = z.infer<typeof TopNodes>;

export const IndexConfig = file('IndexConfig', '`index/v1/config.json`: read it first.', {
  revision,
  version: z.literal(1).with(z.describe('The layout of the files')),
  catalog_pieces: z.int().with(z.describe('How many pieces the catalog has')),
  next_pieces: maybe(
    z.int(),
    'How many it is about to have: they are being filled, and readers need not look',
  ),
  updated_at: Timestamp.with(z.describe('When that number changed')),
});
export type IndexConfig = z.infer<typeof IndexConfig>;
