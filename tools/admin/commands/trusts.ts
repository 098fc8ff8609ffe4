import { issuerNamed } from '@node-registry/registry-rules/ci-issuers';
import { issueSentence } from '@node-registry/registry-rules/issue-sentence';
import { table } from '@node-registry/command-line/table';
import { contracts } from '../../../lib/contracts/self-service/credentials.ts';
import type { TrustRecord } from '../../../lib/registry/records.ts';
import { addTrust, describeTrust, listTrusts, removeTrust } from '../../../lib/registry/trusts.ts';
import { command, UsageError } from '../command.ts';
import { newContext, readPublisher } from '../registry/administration.ts';
import { shown } from './tokens.ts';

export const add = command({
  parameters: ['publisher'],
  summary: 'Let CI jobs publish without a stored secret',
  notes:
    'The jobs of the workflow file send an ID token that their CI signs for them. The first version that one publishes pins the ids of repository and owner: another repository of the same name is then not trusted. Without --ref every branch and tag counts, so anyone who can push a branch with a changed workflow file can publish. Jobs of pull requests never publish.',
  options: {
    repository: {
      value: 'OWNER/NAME',
      about: 'The repository, or the path of a GitLab project',
      required: true,
    },
    workflow: {
      value: 'FILE',
      about: 'The file in .github/workflows, or the path of the CI file of a GitLab project',
      required: true,
    },
    issuer: {
      value: 'ISSUER',
      about: 'github, gitlab, or the issuer of another CI that the registry accepts; github by default',
    },
    'job-workflow': {
      value: 'FILE@REF',
      about:
        'Only jobs in this reusable workflow, such as octo/shared/.github/workflows/publish.yml@refs/tags/v1',
    },
    environment: { value: 'NAME', about: 'Only jobs of this deployment environment' },
    ref: { value: 'REF', about: 'Only jobs of this branch or tag; a * at its end matches anything' },
    event: {
      value: 'NAME',
      about:
        'Also jobs of this event, such as workflow_run, which runs for what strangers wrote too. Without it: push, release, workflow_dispatch, schedule, create (GitLab: push, web, schedule, api, trigger, pipeline)',
    },
    node: { value: 'ID', about: 'Only this node' },
  },
  tellsOwners: true,
  examples: [
    'trust add acme --repository octo/nodes --workflow release.yml',
    'trust add acme --repository octo/nodes --workflow release.yml --environment production --node some-node',
    "trust add acme --repository octo/nodes --workflow release.yml --ref 'refs/tags/v*'",
    'trust add acme --repository group/nodes --workflow .gitlab-ci.yml --issuer gitlab',
    'trust add demo --repository octo/nodes --workflow release.yml --issuer http://localhost:3001/ci',
  ],
  async run(
    { publisher },
    { repository, workflow, issuer = 'github', environment, ref, event, node, ...others },
    { actor },
  ) {
    const wanted = {
      issuer: issuerNamed(issuer),
      repository,
      workflow: workflow.replace(/^\.github\/workflows\//, ''),
      job_workflow: others['job-workflow'],
      ...{ environment, ref, event, node_id: node },
    };
    const { data, error } = contracts.createTrust.body.safeParse(wanted);
    const [issue] = error?.issues ?? [];
    if (issue) throw new UsageError(`The ${issue.path.join('.')} ${issueSentence(issue, wanted)}.`);
    const trust = await addTrust(newContext(), actor, publisher, { ...wanted, ...data });
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
  notes: 'Pinned are the ids of repository and owner, which the first version sets.',
  examples: ['trust list acme'],
  async run({ publisher }) {
    await readPublisher(publisher);
    const trusts = await listTrusts(newContext(), publisher);
    const rows = trusts.map((trust) => {
      const { id, repository, workflow, job_workflow, environment, ref, event, node_id } = trust;
      const state = trust.revoked_at === undefined ? 'active' : 'removed';
      const jobs = [trust.issuer, repository, workflow, job_workflow, environment, ref, event, node_id];
      return [id, state, ...jobs, pinned(trust), trust.last_used_at];
    });
    const limits = 'WORKFLOW,JOB WORKFLOW,ENVIRONMENT,REF,EVENT,NODE'.split(',');
    const headings = ['ID', 'STATE', 'ISSUER', 'REPOSITORY', ...limits, 'PINNED', 'LAST USED'];
    const none = `"${publisher}" trusts no CI jobs.`;
    return { data: trusts.map(shown), text: table(headings, rows, { none }) };
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

function pinned({ repository_id, owner_id }: TrustRecord): string {
  return repository_id === undefined ? 'not yet' : `${repository_id} of ${owner_id}`;
}
