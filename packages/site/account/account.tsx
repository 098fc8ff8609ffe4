import { createRegistryClient, type Reply } from '@node-registry/registry-client';
import { render } from 'preact';
import { decodedPart } from '../templates/text.ts';
import { Action, type Ask, Box, Form, Problem, sentenceOf, useHash, useRead } from './parts.tsx';
import { PublisherView } from './publisher.tsx';
import { begin, finish, type SignInSettings } from './sign-in.ts';
import { SpendingView, useSpending } from './spending.tsx';

type User = Reply<'getUser'>;

function App({ ask, settings, isSignedIn }: { ask: Ask; settings: SignInSettings; isSignedIn: boolean }) {
  const read = async () => (isSignedIn ? ask('getUser', {}) : undefined);
  const { data: user, problem, again } = useRead(read, 'user');
  if (settings.client_id === undefined)
    return <p class="empty">This registry signs people in by its command only: publish-node login.</p>;
  if (!user)
    return (
      <div class="empty">
        <h1>Your account</h1>
        {problem && <Problem problem={problem} again={again} />}
        <p>Publishers, tokens, members and what you spend.</p>
        <p>
          <Action act={() => begin(settings)}>Sign in</Action>
        </p>
      </div>
    );
  return <SignedIn ask={ask} user={user} />;
}

function SignedIn({ ask, user }: { ask: Ask; user: User }) {
  const named = decodedPart(useHash());
  const publishers = useRead(() => ask('listPublishersForUser', {}), 'publishers');
  const [, id] = /^#\/publishers\/(.+)$/.exec(named) ?? [];
  const isKnown = id !== undefined || named === '#/spending' || named.startsWith('#invitation=');
  const view = isKnown ? named : '#/';
  return (
    <>
      <nav class="views" aria-label="Account">
        <a href="#/" aria-current={view === '#/' ? 'page' : undefined}>
          Publishers
        </a>
        <a href="#/spending" aria-current={view === '#/spending' ? 'page' : undefined}>
          Spending
        </a>
        <span class="quiet">{user.email ?? user.id}</span>
        <Action act={async () => location.replace('/account/')}>Sign out</Action>
      </nav>
      {view.startsWith('#invitation=') && (
        <Invitation ask={ask} invitation={view.slice('#invitation='.length)} onAccepted={publishers.again} />
      )}
      {view === '#/spending' && <Spending ask={ask} />}
      {id !== undefined && <PublisherView ask={ask} user={user} id={id} onChange={publishers.again} />}
      {view === '#/' && (
        <>
          <h1>Your publishers</h1>
          {publishers.problem && <Problem {...publishers} />}
          {publishers.data?.length === 0 && (
            <p class="empty">You have no publisher yet. Make one, or open an invitation to one.</p>
          )}
          <h2 class="unseen">List</h2>
          <ul class="results plain">
            {publishers.data?.map((publisher) => (
              <li class="card" key={publisher.id}>
                <h3>
                  <a href={`#/publishers/${encodeURIComponent(String(publisher.id))}`}>
                    {publisher.name || publisher.id}
                  </a>
                </h3>
                <p class="quiet">{publisher.id}</p>
                {publisher.description && <p class="description">{publisher.description}</p>}
              </li>
            ))}
          </ul>
          <Box title="Make a publisher" isNarrow>
            <Form
              button="Make it"
              questions={[
                { name: 'id', label: 'ID', required: true, hint: 'In addresses, and never free again' },
                { name: 'name', label: 'Name', required: true },
              ]}
              send={async ({ id: chosen = '', name = '' }) => {
                const made = await ask('createPublisher', { body: { id: chosen, name } });
                await publishers.again();
                location.hash = `#/publishers/${encodeURIComponent(String(made.id))}`;
              }}
            />
          </Box>
        </>
      )}
    </>
  );
}

function Spending({ ask }: { ask: Ask }) {
  return <SpendingView title="Spending" spending={useSpending(ask)} />;
}

function Invitation({
  ask,
  invitation,
  onAccepted,
}: {
  ask: Ask;
  invitation: string;
  onAccepted: () => Promise<void>;
}) {
  return (
    <Box title="An invitation">
      <p>
        You are invited to the publisher <b>{invitation.split('/')[0]}</b>. Its members will see the name that
        you give here.
      </p>
      <Form
        button="Accept"
        questions={[{ name: 'name', label: 'Your name' }]}
        send={async ({ name }) => {
          const body = { invitation, ...(name && { name }) };
          const joined = await ask('acceptInvitation', { body });
          await onAccepted();
          location.replace(`#/publishers/${encodeURIComponent(String(joined.id))}`);
        }}
      />
    </Box>
  );
}

/** A person can try again. */
const patience = { attempts: 3, timeoutMs: 15_000 };

async function start(place: HTMLElement): Promise<void> {
  const { apiUrl }: { apiUrl: string } = await (await fetch('/account/config.json')).json();
  const settings = await createRegistryClient({ baseUrl: apiUrl, ...patience }).account('signInSettings', {});
  const token = await finish(settings);
  const { account: ask } = createRegistryClient({ baseUrl: apiUrl, accessToken: token, ...patience });
  render(<App ask={ask} settings={settings} isSignedIn={token !== undefined} />, place);
}

const place = document.getElementById('account');
if (place)
  start(place).catch((error: unknown) => {
    const sentence =
      error instanceof Error && error.name === 'AuthorizationResponseError'
        ? 'You did not sign in.'
        : sentenceOf(error);
    render(
      <div class="empty">
        <p role="alert">{sentence}</p>
        <a class="button" href="/account/">
          Start again
        </a>
      </div>,
      place,
    );
  });
