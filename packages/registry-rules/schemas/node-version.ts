import * as z from 'zod/mini';
import { added, clearable, sentBackFields, tags, texts, Timestamp } from './fields.ts';
import { VersionLabel } from '../version-label.ts';

export const NodeVersionStatus = z
  .enum([
    'NodeVersionStatusPending',
    'NodeVersionStatusActive',
    'NodeVersionStatusBanned',
    'NodeVersionStatusDeleted',
    'NodeVersionStatusFlagged',
  ])
  .with(
    added('Pending until the archive has arrived and been checked; deleted if withdrawn by its publisher'),
  );
export type NodeVersionStatus = z.infer<typeof NodeVersionStatus>;

/** Programs decide by these, never by the text of `status_reason`. */
export const StatusReasonCode = z
  .enum([
    'awaiting_upload',
    'archive_rejected',
    'node_banned',
    'node_deleted',
    'publisher_banned',
    'token_revoked',
    'trust_revoked',
    'transferred',
    'member_removed',
    'banned',
    'flagged',
    'withdrawn',
  ])
  .with(added('Why the version has its status, for programs'));
export type StatusReasonCode = z.infer<typeof StatusReasonCode>;

export const Provenance = z
  .object({
    issuer: z.string().with(z.describe('The issuer of the ID token, which names the CI')),
    repository: z.string().with(z.describe('Repository or project, with its owner')),
    commit: z.string().with(z.describe('Commit that the job ran on')),
    ref: z.string().with(z.describe('Branch or tag that the job ran on')),
    workflow: z.string().with(z.describe('File that defines the job')),
    job_workflow: z
      .optional(z.string())
      .with(z.describe('File that the job is in, with its repository and ref, as the CI names it')),
    run: z.string().with(z.describe('Id of the workflow run or pipeline')),
    environment: z.optional(z.string()).with(z.describe('Deployment environment of the job')),
  })
  .with(
    z.meta({
      id: 'Provenance',
      description:
        'Added by this service: the CI job that published the version, by its verified ID token; absent if a person did',
    }),
  );
export type Provenance = z.infer<typeof Provenance>;

const fields = {
  changelog: z.string().with(z.describe('What changed in this version')),
  host_node_extract_status: z
    .enum(['pending', 'success', 'failed'])
    .with(z.describe('Whether the host nodes have been read from the archive')),
  createdAt: Timestamp.with(z.describe('Creation time of the version')),
  dependencies: texts().with(
    z.describe('Packages that the version needs. Absent if unknown; an empty list if it needs no packages'),
  ),
  deprecated: z.boolean().with(z.describe('Whether another version should be used')),
  downloadUrl: z
    .string()
    .with(
      z.describe(
        'Where the archive is downloaded. Present only while the version is active, flagged or withdrawn',
      ),
    ),
  id: z.string().with(z.describe('Unique identifier of the version')),
  node_id: z.string().with(z.describe('Owning node')),
  status_reason: z.string().with(z.describe('Why the version has its status, and what to do about it')),
  supported_accelerators: texts().with(z.describe('Accelerator kinds the version supports')),
  supported_host_frontend_version: z.string().with(z.describe('Supported host frontend versions')),
  supported_host_version: z.string().with(z.describe('Supported host versions')),
  supported_os: texts().with(z.describe('Operating systems supported')),
  tags: tags().with(z.describe('Words to find the version by')),
  tags_admin: texts().with(
    z.describe(
      'Tags for security warnings and admin metadata. Set by admins and by the extraction of host nodes; from others, only as stored. Answered to the publisher only, neither in bulk nor in the index',
    ),
  ),
  version: z.string().with(z.describe('Version label in normal form')),
};

/** Fields that the interface doesn't have. */
const addedFields = {
  status: NodeVersionStatus,
  status_reason_code: StatusReasonCode,
  host_node_extract_reason: z
    .string()
    .with(
      added(
        'Why the host nodes could not be read, or not all of them; with `pending`, why that is tried again',
      ),
    ),
  provenance: Provenance,
  sha256: z
    .string()
    .with(added('SHA-256 of the archive in hexadecimal. Absent until the archive has been accepted')),
  size_bytes: z.int().with(added('Size of the archive. Absent until the archive has been accepted')),
};

const { host_node_extract_status, createdAt, downloadUrl, id, node_id, status_reason, ...writable } = fields;

/** A publisher's input for a version. Fields that the service sets itself are accepted and ignored. */
export const NodeVersionInput = z.object({ ...clearable(writable), version: VersionLabel });
export type NodeVersionInput = z.infer<typeof NodeVersionInput>;

export const NodeVersion = z
  .partial(z.object({ ...fields, ...addedFields }))
  .with(z.meta({ id: 'NodeVersion' }));
export type NodeVersion = z.infer<typeof NodeVersion>;
NodeVersionInput.register(sentBackFields, { names: Object.keys(NodeVersion.shape) });

/** Fields that only admins may change. */
export const adminVersionFields = ['tags_admin'] as const;
