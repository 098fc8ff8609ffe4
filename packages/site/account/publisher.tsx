import type { Reply } from '@node-registry/registry-client';
import { useState } from 'preact/hooks';
import { countOf } from '../templates/text.ts';
import { Action, type Ask, Box, Form, Problem, Secret, Time, Unread, useRead } from './parts.tsx';

interface View {
  ask: Ask;
  user: Reply<'getUser'>;
  id: string;
  onChange: () => Promise<void>;
}

const gitHub = 'https://token.actions.githubusercontent.com';
const daySeconds = 24 * 60 * 60;

/** A publisher as its members see it. Owners change what others only see. */
export function PublisherView({ ask, user, id, onChange }: View) {
  const path = { publisherId: id };
  const { data, problem, again } = useRead(async () => {
    const publisher = await ask('getPublisher', { path });
    const own = publisher.members?.find((member) => member.id === user.member_id);
    return { publisher, isOwner: own?.role === 'owner' || user.isAdmin };
  }, id);
  if (!data) return <Unread title={id} problem={problem} again={again} />;
  const { publisher, isOwner } = data;
  const parts = { ask, path, user, isOwner };
  const profile = [
    ['name', 'Name', publisher.name],
    ['description', 'Description', publisher.description],
    ['website', 'Home page', publisher.website],
    ['support', 'Where to get help', publisher.support],
    ['source_code_repo', 'Source code', publisher.source_code_repo],
  ] as const;
  return (
    <>
      <h1>{publisher.name || id}</h1>
      <p class="quiet">{id}</p>
      {/* Next to a new token, which is shown only once. */}
      {problem && <Problem problem={problem} again={again} />}
      <div class="parts">
        <Nodes {...parts} />
        <Tokens {...parts} />
        <Members {...parts} onLeft={onChange} />
        <Trusts {...parts} />
        {isOwner && (
          <Box title="Profile">
            <Form
              key={JSON.stringify(publisher)}
              button="Save"
              questions={profile.map(([name, label, value]) => ({
                name,
                label,
                value,
                required: name === 'name',
              }))}
              send={async (fields) => {
                const body = Object.fromEntries(
                  Object.entries(fields).map(([name, value]) => [name, value || null]),
                );
                await ask('updatePublisher', { path, body });
                await Promise.all([again(), onChange()]);
              }}
            />
          </Box>
        )}
        {isOwner && <History {...parts} />}
      </div>
    </>
  );
}

interface Part {
  ask: Ask;
  path: { publisherId: string };
  user: Reply<'getUser'>;
  isOwner: boolean;
}

function Nodes({ ask, path, isOwner }: Part) {
  const [chosen, choose] = useState<string>();
  const [page, setPage] = useState(1);
  const { data, problem, again } = useRead(
    () => ask('listNodesForPublisher', { path, query: { page: String(page) } as never }),
    `${path.publisherId} ${page}`,
  );
  return (
    <Box title="Nodes" read={{ problem, again }}>
      {data?.nodes.length === 0 && (
        <p class="quiet">None yet. In the folder of a node: publish-node publish</p>
      )}
      <ul class="plain list">
        {data?.nodes.map(({ id = '', latest_version, status = 'NodeStatusActive' }) => (
          <li key={id}>
            <span>
              <b>{id}</b> {latest_version?.version}{' '}
              {status !== 'NodeStatusActive' && <span class="badge warn">{plainStatus(status)}</span>}
            </span>
            <button
              type="button"
              aria-expanded={chosen === id}
              onClick={() => choose(chosen === id ? undefined : id)}
            >
              Versions
            </button>
            {chosen === id && <Versions ask={ask} isOwner={isOwner} path={{ ...path, nodeId: id }} />}
          </li>
        ))}
      </ul>
      {data && data.totalPages > 1 && (
        <p>
          <button type="button" disabled={page === 1} onClick={() => setPage(page - 1)}>
            Before
          </button>{' '}
          Page {page} of {data.totalPages}, {data.total} nodes{' '}
          <button type="button" disabled={page === data.totalPages} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </p>
      )}
    </Box>
  );
}

const plainStatus = (status: string) =>
  status
    .replace(/^Node(?:Version)?Status/, '')
    .replace('Deleted', 'Withdrawn')
    .toLowerCase();
const allStatuses = ['Active', 'Pending', 'Banned', 'Deleted', 'Flagged'].map(
  (each) => `NodeVersionStatus${each}`,
);

type OfNode = Pick<Part, 'ask' | 'isOwner'> & { path: { publisherId: string; nodeId: string } };

function Versions({ ask, path, isOwner }: OfNode) {
  const query = { statuses: allStatuses.join(',') };
  const { data, problem, after } = useRead(() => ask('listNodeVersions', { path, query }), path.nodeId);
  const of = (versionId: string) => ({ path: { ...path, versionId } });
  const drop = (id: string) => after(() => ask('deleteNodeVersion', of(id)));
  const body = { status: 'NodeVersionStatusActive' } as const;
  const restore = (id: string) => after(() => ask('updateNodeVersion', { ...of(id), body }));
  return (
    <ul class="plain list inner">
      {problem && <li class="bad">{problem}</li>}
      {data?.map(({ id = '', version, status = '', status_reason, deprecated }) => (
        <li key={id}>
          <span>
            {version} <span class="badge">{plainStatus(status)}</span>{' '}
            {deprecated && <span class="badge warn">deprecated</span>} <small>{status_reason}</small>
          </span>
          {isOwner && status === 'NodeVersionStatusPending' && (
            <Action act={drop(id)} asks={`Drop ${version}? Its label is free again.`}>
              Drop
            </Action>
          )}
          {isOwner && ['NodeVersionStatusActive', 'NodeVersionStatusFlagged'].includes(status) && (
            <Action act={drop(id)} asks={`Withdraw ${version}? It leaves every list and stays downloadable.`}>
              Withdraw
            </Action>
          )}
          {isOwner && status === 'NodeVersionStatusDeleted' && <Action act={restore(id)}>Restore</Action>}
        </li>
      ))}
    </ul>
  );
}

function Tokens({ ask, path }: Part) {
  const { data, problem, again, after } = useRead(
    () => ask('listPersonalAccessTokens', { path }),
    path.publisherId,
  );
  const [made, setMade] = useState<string>();
  return (
    <Box title="Tokens" read={{ problem, again }}>
      {made && <Secret text={made} about="Your new token." onDone={() => setMade(undefined)} />}
      {data?.length === 0 && <p class="quiet">None. publish-node login needs none.</p>}
      <ul class="plain list">
        {data?.map(({ id, name, node_id, expires_at, last_used_at }) => (
          <li key={id}>
            <span>
              <b>{name}</b> {node_id && <span class="quiet">only {node_id}</span>}
              <br />
              <small>
                until <Time at={expires_at} />, last used <Time at={last_used_at} />
              </small>
            </span>
            <Action
              asks={`Revoke the token "${name}"? What uses it stops at once.`}
              act={after(() => ask('deletePersonalAccessToken', { path: { ...path, tokenId: id } }))}
            >
              Revoke
            </Action>
          </li>
        ))}
      </ul>
      <details>
        <summary>Make a token</summary>
        <Form
          button="Make it"
          questions={[
            { name: 'name', label: 'What it is for', required: true },
            { name: 'node', label: 'Only this node', hint: 'All nodes if empty' },
            { name: 'days', label: 'Days', type: 'number', value: '90' },
          ]}
          send={async ({ name = '', node, days }) => {
            const body = { name, expires_in: Number(days) * daySeconds, ...(node && { node_id: node }) };
            setMade((await ask('createPersonalAccessToken', { path, body })).token);
            await again();
          }}
        />
      </details>
    </Box>
  );
}

function Members({ ask, path, user, isOwner, onLeft }: Part & { onLeft: () => Promise<void> }) {
  const { data, problem, again, after } = useRead(async () => {
    const members = await ask('listMembers', { path });
    return { members, invitations: isOwner ? await ask('listInvitations', { path }) : [] };
  }, path.publisherId);
  const [invitation, setInvitation] = useState<string>();
  const [left, setLeft] = useState<string>();
  const remove = (memberId: string) => async () => {
    const { ended, remaining } = await ask('removeMember', { path: { ...path, memberId } });
    if (memberId === user.member_id) {
      await onLeft();
      location.hash = '#/';
      return;
    }
    const known = [
      ...remaining.tokens.map(({ name }) => name),
      ...remaining.trusts.map((each) => each.repository),
    ];
    const others = known.length > 0 ? ` Still working, and perhaps known to them: ${known.join(', ')}.` : '';
    const counts = [
      { list: ended.tokens, one: 'token' },
      { list: ended.trusts, one: 'trust' },
    ].flatMap(({ list, one }) => (list.length > 0 ? countOf(list.length, one) : []));
    setLeft(`${counts.length > 0 ? `Ended with it: ${counts.join(', ')}.` : ''}${others}`);
    await again();
  };
  return (
    <Box title="Members" read={{ problem, again }}>
      {invitation && (
        <Secret text={invitation} about="Send this to the person." onDone={() => setInvitation(undefined)} />
      )}
      {left && (
        <p class="notice" role="status">
          {left}
        </p>
      )}
      <ul class="plain list">
        {data?.members.map(({ id, role, user: person }) => {
          const name = person.name ?? person.email ?? person.id ?? id;
          const isSelf = id === user.member_id;
          return (
            <li key={id}>
              <span>
                <b>{name}</b> <span class="badge">{role}</span>
              </span>
              {(isOwner || isSelf) && (
                <Action
                  act={remove(id)}
                  asks={`${isSelf ? 'Leave' : `Remove ${name}`}? The tokens and trusts of this person end at once.`}
                >
                  {isSelf ? 'Leave' : 'Remove'}
                </Action>
              )}
            </li>
          );
        })}
        {data?.invitations.map(({ id, role, expires_at, email, user_id }) => (
          <li key={id}>
            <span>
              Invited {email ?? user_id ?? ''} <span class="badge">{role}</span>
              <br />
              <small>
                until <Time at={expires_at} />
              </small>
            </span>
            <Action act={after(() => ask('deleteInvitation', { path: { ...path, invitationId: id } }))}>
              Withdraw
            </Action>
          </li>
        ))}
      </ul>
      {isOwner && (
        <details>
          <summary>Invite somebody</summary>
          <Form
            button="Make a link"
            questions={[{ name: 'role', label: 'Role', options: ['member', 'owner'] }]}
            send={async ({ role }) => {
              const made = await ask('createInvitation', {
                path,
                body: { role: role === 'owner' ? role : 'member' },
              });
              setInvitation(made.link ?? made.invitation);
              await again();
            }}
          />
        </details>
      )}
    </Box>
  );
}

function Trusts({ ask, path, isOwner }: Part) {
  const { data, problem, again, after } = useRead(() => ask('listTrusts', { path }), path.publisherId);
  return (
    <Box title="CI jobs" read={{ problem, again }}>
      {data?.length === 0 && <p class="quiet">No job publishes without a stored secret yet.</p>}
      <ul class="plain list">
        {data?.map(({ id, repository, workflow, ref, last_used_at }) => (
          <li key={id}>
            <span>
              <b>{repository}</b> {workflow} {ref}
              <br />
              <small>
                last used <Time at={last_used_at} />
              </small>
            </span>
            {isOwner && (
              <Action
                asks={`Stop trusting the jobs of ${repository}?`}
                act={after(() => ask('deleteTrust', { path: { ...path, trustId: id } }))}
              >
                Remove
              </Action>
            )}
          </li>
        ))}
      </ul>
      {isOwner && (
        <details>
          <summary>Trust a job of GitHub Actions</summary>
          <Form
            button="Trust it"
            questions={[
              { name: 'repository', label: 'Repository', required: true, hint: 'Such as octo/nodes' },
              { name: 'workflow', label: 'Workflow file', value: 'release.yml', required: true },
              { name: 'ref', label: 'Only this branch or tag', value: 'refs/tags/v*', hint: 'Any if empty' },
              { name: 'node', label: 'Only this node', hint: 'All nodes if empty' },
            ]}
            send={async ({ repository = '', workflow = '', ref, node }) => {
              const only = { ...(ref && { ref }), ...(node && { node_id: node }) };
              await ask('createTrust', { path, body: { issuer: gitHub, repository, workflow, ...only } });
              await again();
            }}
          />
        </details>
      )}
    </Box>
  );
}

function History({ ask, path }: Part) {
  const { data, problem, again } = useRead(() => ask('listHistory', { path }), path.publisherId);
  return (
    <Box title="History" read={{ problem, again }}>
      <ul class="plain list">
        {data?.map(({ at, actor, action, subject, detail }) => (
          <li key={`${at}${subject}${action}`}>
            <span>
              {action} <b>{subject}</b> {detail}
            </span>
            <span class="meta">
              <span>{actor}</span>
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Box>
  );
}
