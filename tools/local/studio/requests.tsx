import { countOf } from '@node-registry/site/text';
import type { LoggedRequest } from '../request-log.ts';

const toneOf = (status: number) => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');

/** Requests of the API, the newest first; each opens to its log line, its body and its error. */
export function Requests({ requests }: { requests: readonly LoggedRequest[] }) {
  if (requests.length === 0) return <p class="quiet">The API has answered no request yet.</p>;
  return (
    <ol class="requests">
      {requests.map(({ id, at, status, method, path, caller, ms, lines, body, error }) => {
        const credits = lines.find(({ event }) => event === 'request')?.credits_counted;
        return (
          <li key={id + at}>
            <details>
              <summary>
                <span class={`badge ${toneOf(status)}`}>{status}</span>
                <code>
                  {method} {path}
                </code>
                <span>{caller}</span>
                <span>{ms} ms</span>
                <span>{typeof credits === 'number' && countOf(credits, 'credit')}</span>
              </summary>
              <Text name="Error" value={error} />
              <Text name="Body" value={body} />
              <Text name="Log" value={lines.map((line) => JSON.stringify(line, null, 1)).join('\n')} />
            </details>
          </li>
        );
      })}
    </ol>
  );
}

function Text({ name, value }: { name: string; value: string }) {
  if (value === '') return null;
  return (
    <>
      <h3>{name}</h3>
      <pre>{value}</pre>
    </>
  );
}
