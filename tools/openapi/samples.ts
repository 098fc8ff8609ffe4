import * as z from 'zod/mini';
import type { JsonObject } from '../../lib/json.ts';

/*
 * Requests and responses of the routes without a sample event, from their schemas: the fields that a schema requires,
 * and optional ones with a value here, by their names or by those of their owners too.
 */

const [uuid, memberId] = ['5f0c1b6e-8d2a-4c37-9e51-7a64d0b3f298', '3a7bd3e2360a3d29eea436fcfb7e44c7'];
const values: Record<string, unknown> = {
  id: uuid,
  versionId: uuid,
  tokenId: uuid,
  trustId: uuid,
  invitationId: uuid,
  memberId,
  made_by: memberId,
  member_id: memberId,
  'members.id': memberId,
  'listMembers.id': memberId,
  'updateMember.id': memberId,
  'acceptInvitation.name': 'Alice',
  isAdmin: false,
  has_more: false,
  publisherId: 'my-team',
  'Publisher.id': 'my-team',
  'createPublisher.id': 'my-team',
  name: 'My Team',
  username: 'my-team',
  nodeId: 'my-node',
  node_id: 'my-node',
  'Node.id': 'my-node',
  'Node.name': 'My Node',
  'getUser.id': 'alice',
  'user.id': 'alice',
  'user.name': 'Alice',
  email: 'alice@example.com',
  ...{
    version: '1.0.0',
    changelog: 'Half the memory',
    status: 'NodeVersionStatusActive',
    website: 'https://my-team.example',
  },
  ...{
    token: 'nrp_…',
    'PersonalAccessToken.name': 'laptop',
    role: 'member',
    'createPersonalAccessToken.name': 'laptop',
  },
  invitation: 'my-team/nri_…',
  link: 'https://account.example/account/#invitation=my-team%2Fnri_…',
  issuer: 'https://login.example',
  client_id: 'node-registry',
  scopes: ['openid', 'email'],
  'Trust.issuer': 'https://token.actions.githubusercontent.com',
  audience: 'node-registry',
  'createTrust.issuer': 'https://token.actions.githubusercontent.com',
  repository: 'octo/my-node',
  'Node.repository': 'https://github.com/octo/my-node',
  'Node.status': 'NodeStatusActive',
  workflow: 'release.yml',
  ref: 'refs/tags/v*',
  expires_at: '2027-02-18T12:00:00.000Z',
  actor: 'Alice',
  action: 'token create',
  subject: 'laptop',
  day: '2026-11-20',
  credits: 20,
  credits_per_day: 2000,
  tasks_per_day: 100,
  requests_per_minute: 60,
  total: 1,
  page: 1,
  limit: 20,
  ...{
    totalPages: 1,
    operation: 'textToVideo',
    model: 'vidq3-pro',
    payment: 'taken',
    final_state: 'success',
  },
  task_id: '867913241582301184',
  'relightResult.task_id': uuid,
  'data.task_id': uuid,
  'data.status': 'COMPLETED',
  generated: ['https://images.example/relit.png'],
  'CreationsReply.id': '867913241582301184',
  'CreationsReply.state': 'success',
  err_code: '',
  'creations.id': '867913241582301184-1',
  url: 'https://videos.example/film.mp4',
  cover_url: '',
  request_id: '01J0ZK6Q8N4Y3V5T7R9P2M4W6X',
  loopback_ports: [8976],
};

/** A valid value of a schema, which belongs to `owner`. */
export function sampleOf(schema: z.ZodMiniType, owner: string, io: 'input' | 'output'): unknown {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io });
  const sample = (given: JsonObject, of: string, field: string): unknown => {
    if (typeof given.$ref === 'string') {
      const name = given.$ref.replace('#/$defs/', '');
      return sample($defs[name] as JsonObject, name, field);
    }
    const known = values[`${of}.${field}`] ?? values[field];
    const {
      const: only,
      enum: choices = [known],
      default: standard,
      type,
    } = given as { enum?: unknown[] } & JsonObject;
    if (known !== undefined && !given.properties && choices.includes(known)) return known;
    if (type === 'array') return [sample(given.items as JsonObject, field || of, '')];
    if (given.properties) {
      const required = given.required as string[] | undefined;
      const fields = Object.entries(given.properties as Record<string, JsonObject>).filter(
        ([name]) => required?.includes(name) || name in values || `${of}.${name}` in values,
      );
      return Object.fromEntries(fields.map(([name, each]) => [name, sample(each, field || of, name)]));
    }
    return only ?? standard ?? choices[0] ?? plain[String(type)];
  };
  return sample(root as JsonObject, owner, '');
}

const plain: Record<string, unknown> = { boolean: true, integer: 0, string: '2026-11-20T12:00:00.000Z' };
