import { at } from './elements.js';

/** The page's view of the stack. `refresh` loads it again. */
export const stack = {
  state: { parts: [], requests: [], tokens: {} },
  records: { published: [], callers: [], notified: undefined },
};

const listeners = [];

export function onChange(listener) {
  listeners.push(listener);
}

export async function refresh() {
  const [state, records] = await Promise.all([ask('/state'), ask('/records')]);
  Object.assign(stack, { ...(state && { state }), ...(records && { records }) });
  at('trouble').hidden = state !== undefined;
  at('trouble').textContent = state ? '' : 'The local stack does not answer. Start it with: npm start';
  for (const listener of listeners) listener(stack);
}

async function ask(path) {
  const answer = await fetch(path).catch(() => undefined);
  return answer?.ok ? answer.json() : undefined;
}

/** Posts to the server of this page, and shows the change. */
export async function post(path, body) {
  const answer = await fetch(path, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  await refresh();
}

/** Calls the API as a user, or without a token. */
export async function call({ method, path, body, user = '' }) {
  const token = stack.state.tokens[user];
  const started = performance.now();
  const answer = await fetch(stack.state.apiUrl + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const ms = Math.round(performance.now() - started);
  return { status: answer.status, ms, headers: answer.headers, body: JSON.parse(text) };
}
