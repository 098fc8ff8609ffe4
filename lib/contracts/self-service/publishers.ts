import { NodeId, PublisherId } from '@node-registry/registry-rules/names';
import { clearable, sentBackFields } from '@node-registry/registry-rules/schemas/fields';
import { Node } from '@node-registry/registry-rules/schemas/node';
import { NodeVersion, NodeVersionStatus } from '@node-registry/registry-rules/schemas/node-version';
import { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import { PublisherName, profileFields } from '@node-registry/registry-rules/schemas/self-service';
import * as z from 'zod/mini';
import { contractsOf, moment, text, whole } from './contracts-of.ts';

/* Publishers, and what their members see of their nodes. */

const profile = clearable(profileFields);

const sentBack = { names: Object.keys(Publisher.shape) };

const NewPublisher = z.object({ id: PublisherId, name: PublisherName, ...profile });
NewPublisher.register(sentBackFields, sentBack);

const PublisherChanges = z.object({ name: z.optional(PublisherName), ...profile });
PublisherChanges.register(sentBackFields, sentBack);

const permissions = z.object({
  canEdit: z.boolean().with(z.describe('Whether the person is an owner, or an admin')),
  canPublish: z.boolean().with(z.describe('Whether the person is a member')),
});

const pageNumber = (standard: number, max: number) =>
  z.pipe(
    z._default(
      z.string().check(z.regex(/^[1-9]\d{0,5}$/, `must be a whole number from 1 to ${max}`)),
      `${standard}`,
    ),
    z.pipe(
      z.transform((text: string) => Number(text)),
      z.int().check(z.maximum(max)),
    ),
  );

const statusNames = NodeVersionStatus.options;

export const contracts = contractsOf({
  validatePublisher: {
    route: 'GET /publishers/validate',
    summary: 'Whether a publisher id is free',
    description: 'A taken, reserved or malformed id is a 400 with the reason.',
    query: z.object({ username: PublisherId }),
    reply: z.object({ isAvailable: z.literal(true).with(z.describe('The id was free just now')) }),
  },
  createPublisher: {
    route: 'POST /publishers',
    errors: ['publisher_id_taken'],
    summary: 'Make a publisher',
    description:
      'The person becomes its owner. An id is never free again, and no other may differ from it only in case, -, _ and “.”.',
    body: NewPublisher,
    reply: Publisher,
  },
  getPublisher: {
    route: 'GET /publishers/{publisherId}',
    summary: 'Read a publisher',
    description: 'Members are shown to members, their e-mail addresses to owners and admins. Needs no token.',
    access: 'guest',
    reply: Publisher,
  },
  updatePublisher: {
    route: 'PUT /publishers/{publisherId}',
    summary: 'Change the profile of a publisher',
    description:
      'For owners. An absent field is kept, null clears it; fields that the service sets are ignored.',
    body: PublisherChanges,
    reply: Publisher,
  },
  getPermissionOnPublisher: {
    route: 'GET /publishers/{publisherId}/permissions',
    summary: 'What I may do for a publisher',
    description: 'Both are false for a stranger.',
    reply: permissions,
  },
  getPermissionOnPublisherNodes: {
    route: 'GET /publishers/{publisherId}/nodes/{nodeId}/permissions',
    summary: 'What I may do with a node',
    description: 'Both are false for a stranger.',
    reply: permissions,
  },
  listNodesForPublisher: {
    route: 'GET /publishers/{publisherId}/nodes/v2',
    summary: 'The nodes of a publisher',
    description:
      'Members see nodes of every status; others see active nodes. Of many nodes of a large publisher, `publisher` has its id and name alone. Needs no token. If nodes are large, members get the last of a page with their id alone, and others do not get them.',
    access: 'guest',
    query: z.object({
      page: pageNumber(1, 100_000).with(z.describe('The page, from 1')),
      limit: pageNumber(20, 100).with(z.describe('Nodes a page')),
    }),
    reply: z.object({
      nodes: z.array(Node).with(z.describe('By id')),
      total: whole(
        'How many nodes there are; of more than 100, or large ones, for others too all that the publisher has',
      ),
      page: whole('The page'),
      limit: whole('Nodes a page'),
      totalPages: whole('How many pages there are'),
    }),
  },
  listNodeVersions: {
    route: 'GET /publishers/{publisherId}/nodes/{nodeId}/versions',
    summary: 'All versions of a node, for its members',
    description:
      'The newest first. Pending ones are among them, with what they wait for. Withdrawn ones are if `statuses` asks. If they are many and large, the oldest have little more than their state.',
    query: z.object({
      statuses: z
        .optional(
          z.string().check(
            z.maxLength(200),
            z.refine(
              (text) => text.split(',').every((each) => statusNames.some((name) => name === each)),
              `must be of ${statusNames.join(', ')}, separated by commas`,
            ),
          ),
        )
        .with(z.describe('Only these, separated by commas; all but NodeVersionStatusDeleted if absent')),
    }),
    reply: z.array(NodeVersion),
  },
  updateNodeVersion: {
    route: 'PUT /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}',
    errors: ['record_too_large'],
    summary: 'Change a published version',
    description:
      'For owners: its change log, whether it is deprecated, and, with the status NodeVersionStatusActive, a withdrawn one is active again.',
    body: z.object({
      changelog: z.optional(text('What changed in this version')),
      deprecated: z.optional(z.boolean()).with(z.describe('Whether another version should be used')),
      status: z.optional(z.literal('NodeVersionStatusActive')).with(z.describe('Takes a withdrawal back')),
    }),
    reply: NodeVersion,
  },
  deleteNodeVersion: {
    route: 'DELETE /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}',
    summary: 'Withdraw a version, or drop one that waits for its upload',
    description:
      'For owners. A withdrawn version leaves every list and is never the latest; who names it can still download it, and its label is never free. A pending one is gone, and its label is free.',
  },
  listHistory: {
    route: 'GET /publishers/{publisherId}/history',
    summary: 'What was changed',
    description:
      'For owners: the latest 200 changes, the latest first. An act of the administration is one of `the registry`, with the reason that was written for the owners.',
    query: z.object({
      node_id: z.optional(NodeId).with(z.describe('This node, with its versions, instead of the publisher')),
    }),
    reply: z.array(
      z.object({
        at: moment('When'),
        actor: text('`the registry`, or `user:` and the user'),
        action: text('What was done, such as `token create`'),
        subject: text('What it was done to'),
        detail: z.optional(text('More about it')),
      }),
    ),
  },
});
