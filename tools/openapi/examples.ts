import { readFileSync } from 'node:fs';
import { bodySchema, type Contract } from '../../lib/contract.ts';
import * as config from '../../lib/config.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { errorCatalog } from '../../lib/errors.ts';
import { issueDetails } from '../../lib/validation-issues.ts';
import type { ErrorBody } from '../../lib/schemas/error-body.ts';
import type { JsonObject } from '../../lib/json.ts';

const requestId = '01J0ZK6Q8N4Y3V5T7R9P2M4W6X';

interface Sample {
  path: Record<string, string>;
  body: JsonObject;
}

/** The request of an operation's sample event, the same that `invoke local` and the tests send. */
export function sampleRequest({ name }: Contract): Sample {
  const file = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const { pathParameters, body } = JSON.parse(
    readFileSync(new URL(`../../events/${file}.json`, import.meta.url), 'utf8'),
  );
  return { path: pathParameters ?? {}, body: JSON.parse(body) };
}

/** An error as the service answers it, with the catalog's own sentence. */
export function sampleError(code: ErrorCode): ErrorBody {
  return { error: code, message: errorCatalog[code].message, request_id: requestId };
}

/** The real answer of the service to the sample request with a wrong type in its first field. */
export function sampleIssues(contract: Contract): ErrorBody {
  const { body } = sampleRequest(contract);
  const [[field, value] = ['', '']] = Object.entries(body);
  const broken = { ...body, [field]: typeof value === 'string' ? 7 : 'seven' };
  const { error } = bodySchema(contract, config.videoRules).safeParse(broken);
  return {
    ...sampleError('invalid_request'),
    details: issueDetails([{ root: 'body', error, input: broken }]),
  };
}

const archive = 'https://downloads.example.com/archives/demo-node/1.0.0/0b7c41f8.zip';

const publisher = {
  id: 'demo',
  name: 'Demo Publisher',
  website: 'https://example.com',
  createdAt: '2026-11-20T12:00:00.000Z',
  members: [{ id: 'demo-owner', role: 'owner', user: { id: 'demo-owner', name: 'Olga Owner' } }],
};

const version = {
  id: '7a3b6f0e-2f8c-4f43-9a51-0b4f7a2f9d10',
  node_id: 'demo-node',
  version: '1.0.0',
  changelog: 'Changes of 1.0.0',
  dependencies: ['numpy>=2'],
  createdAt: '2026-11-20T12:00:00.000Z',
};

const activeVersion = {
  ...version,
  status: 'NodeVersionStatusActive',
  downloadUrl: archive,
  sha256: 'b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184',
  size_bytes: 48_213,
};

const task = { state: 'created', created_at: '2026-11-20T12:00:00Z' };

/** The answer to each sample event, by operation. A test checks each against its contract. */
export const sampleReplies: Record<string, JsonObject> = {
  updateNode: {
    id: 'demo-node',
    name: 'Demo Node',
    description: 'A node to try the service with, with a new description.',
    tags: ['demo', 'image'],
    repository: 'https://example.com/demo-node',
    status: 'NodeStatusActive',
    created_at: '2026-11-20T12:00:00.000Z',
    publisher,
    latest_version: activeVersion,
  },
  publishNodeVersion: {
    node_version: {
      ...version,
      id: '3c1f9d52-6f0a-4d5e-8f5c-7f2f1f6f8a55',
      version: '1.2.0',
      changelog: 'Faster loading',
      supported_os: ['linux', 'macos'],
      status: 'NodeVersionStatusPending',
      status_reason: 'Waiting for the archive: PUT it to the signedUrl of the publish answer.',
      status_reason_code: 'awaiting_upload',
    },
    signedUrl:
      'https://archives.s3.us-east-1.amazonaws.com/staging/3c1f9d52/upload.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-SignedHeaders=content-type%3Bhost&X-Amz-Signature=0f3a',
  },
  updateHostNode: {
    host_node_name: 'Load Image (demo)',
    category: 'image/load',
    description: 'Loads an image',
    experimental: false,
    function: 'load',
    output_is_list: [false],
    policy: 'HostNodePolicyActive',
    return_names: 'image',
    return_types: 'IMAGE',
  },
  bulkNodeVersions: {
    node_versions: [
      {
        identifier: { node_id: 'demo-node', version: '1.0.0' },
        status: 'success',
        node_version: activeVersion,
      },
      {
        identifier: { node_id: 'demo-node', version: '9.9.9' },
        status: 'not_found',
        error_message: 'The node version does not exist.',
      },
    ],
  },
  relightImage: {
    data: { task_id: '046b6c7f-0b8a-43b9-b35d-6489e6daee91', status: 'CREATED', generated: [] },
  },
  textToVideo: {
    ...task,
    task_id: '867913241582301184',
    credits: 30,
    model: 'vidq2-turbo',
    prompt: 'A paper boat sails down a rainy street',
    duration: 5,
    resolution: '720p',
    watermark: false,
  },
  extendVideo: {
    ...task,
    task_id: '867913241582301185',
    credits: 30,
    model: 'vidq2-turbo',
    prompt: 'The boat reaches the sea',
    duration: 5,
    video_creation_id: '867913241582301184',
    video_url: 'https://example.com/boat.mp4',
  },
  multiframeVideo: {
    ...task,
    task_id: '867913241582301186',
    credits: 60,
    model: 'vidq2-pro',
    resolution: '720p',
    start_image: 'https://example.com/first.png',
    image_settings: [
      { key_image: 'https://example.com/second.png', prompt: 'The sun rises', duration: 5 },
      { key_image: 'https://example.com/third.png' },
    ],
  },
};
