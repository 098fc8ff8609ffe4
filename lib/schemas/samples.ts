import type * as z from 'zod/mini';
import type { NodeVersion } from '@node-registry/registry-rules/schemas/node-version';
import type { Publisher } from '@node-registry/registry-rules/schemas/publisher';

/* The records in the sample replies of several contracts; see lib/deployment.ts. */

export const samplePublisher: z.input<typeof Publisher> = {
  id: 'demo',
  name: 'Demo Publisher',
  website: 'https://example.com',
  createdAt: '2026-11-20T12:00:00.000Z',
  members: [{ id: 'demo-owner', role: 'owner', user: { id: 'demo-owner', name: 'Olga Owner' } }],
};

export const sampleVersion = {
  id: '7a3b6f0e-2f8c-4f43-9a51-0b4f7a2f9d10',
  node_id: 'demo-node',
  version: '1.0.0',
  changelog: 'Changes of 1.0.0',
  dependencies: ['numpy>=2'],
  createdAt: '2026-11-20T12:00:00.000Z',
};

/** A function, because a bundler keeps an unused spread. */
export const samplePublishedVersion = (): z.input<typeof NodeVersion> => ({
  ...sampleVersion,
  status: 'NodeVersionStatusActive',
  downloadUrl: 'https://downloads.example.com/archives/demo-node/1.0.0/0b7c41f8.zip',
  sha256: 'b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184',
  size_bytes: 48_213,
});

export const sampleTask = { state: 'created', created_at: '2026-11-20T12:00:00Z' } as const;
