import { issuerNamed } from '@node-registry/registry-rules/ci-issuers';
import { trustFields } from '@node-registry/registry-rules/schemas/self-service';
import * as z from 'zod/mini';
import { addTrust, describeTrust, listTrusts, removeTrust } from '../../../lib/registry/trusts.ts';
import { command, fieldsIn, optionsOf } from '../command.ts';
import { newContext, readPublisher } from '../registry/administration.ts';
import { tableOf } from '../view.ts';
import { shown } from './tokens.ts';

export const add = command({
  parameters: ['publisher'],
  summary: 'Let CI jobs publish without a stored secret',
  notes:
    'The jobs of the workflow file send an ID token that their CI signs for them. The first version that one publishes pins the ids of repository and owner: another repository of the same name is then not trusted. Without --ref every branch and tag counts, so anyone who can push a branch with a changed workflow file can publish. Jobs of pull requests never publish. Without --event, those of push, release, workflow_dispatch, schedule and create do (GitLab: push, web, schedule, api, trigger, pipeline).',
  options: {
    ...optionsOf(trustFields, ['repository', 'workflow']),
    issuer: {
      value: 'ISSUER',
      about: 'github, gitlab, or the issuer of another CI that the registry accepts; github by default',
    },
  },
  tellsOwners: true,
  examples: [
    'trust add acme --repository octo/nodes --workflow release.yml',
    'trust add acme --repository octo/nodes --workflow release.yml --environment production --node some-node',
    "trust add acme --repository octo/nodes --workflow release.yml --ref 'refs/tags/v*'",
    'trust add acme --repository group/nodes --workflow .gitlab-ci.yml --issuer gitlab',
    'trust add demo --repository octo/nodes --workflow release.yml --issuer http://localhost:3001/ci',
  ],
  async run({ publisher }, { issuer = 'github', workflow = '', ...options }, { actor }) {
    const file = workflow.replace(/^\.github\/workflows\//, '');
    const given = { ...options, issuer: issuerNamed(issuer), workflow: file };
    const trust = await addTrust(newContext(), actor, publisher, fieldsIn(z.object(trustFields), given));
    return {
      data: shown(trust),
      text: `"${publisher}" trusts ${describeTrust(trust)}, by the trust ${trust.id}.`,
    };
  },
});

export const list = command({
  parameters: ['publisher'],
  summary: 'List the CI jobs that a publisher trusts',
  readsOnly: true,
  notes:
    'With --json, also issuer, event, reusable workflow, and the ids of repository and owner that the first version pins.',
  examples: ['trust list acme'],
  async run({ publisher }) {
    await readPublisher(publisher);
    const trusts = await listTrusts(newContext(), publisher);
    const data = trusts.map((trust) => ({
      ...shown(trust),
      state: trust.revoked_at === undefined ? 'active' : 'removed',
    }));
    const columns = [
      'id',
      'state',
      'repository',
      'workflow',
      'environment',
      'ref',
      'node_id',
      'last_used_at',
    ];
    return { data, text: tableOf(data, `"${publisher}" trusts no CI jobs.`, columns) };
  },
});

export const remove = command({
  parameters: ['publisher', 'trust-id'],
  summary: 'Stop trusting CI jobs permanently',
  notes:
    'Take the id from trust list. It works at once: the next publish is rejected, and versions that wait for their upload do not become active. Versions that are active stay.',
  tellsOwners: true,
  examples: ['trust remove acme 0d5f6c8e-0b7e-4c4e-9d53-0f6b1a0c9b52'],
  async impact({ publisher, 'trust-id': id }) {
    const trust = (await listTrusts(newContext(), publisher)).find((each) => each.id === id);
    return trust
      ? `stops trusting ${describeTrust(trust)}, last used ${trust.last_used_at ?? 'never'}`
      : 'removes a trust that does not exist';
  },
  async run({ publisher, 'trust-id': id }, _, { actor }) {
    const { result: since } = await removeTrust(newContext(), actor, publisher, id);
    return { data: { id, revoked_at: since }, text: `The trust ${id} has been removed since ${since}.` };
  },
});
