import { at, element } from '../../../packages/site/pages/elements.ts';
import { guard } from './lists.ts';
import type { Operation } from './operations.ts';
import { call, onChange, owner, refresh, type Stack } from './stack.ts';
import { madeBy } from './tasks.ts';

const pollMs = 300;
const maxPolls = 200;

/** The two first buttons: each goes through its flow to the end, and marks the steps that are done. */
export function startStory(operations: readonly Operation[]): void {
  const sampleOf = (id: string) => (operations.find((each) => each.id === id) as Operation).sample();
  const publish = at<HTMLButtonElement>('publish');
  publish.onclick = () => guard(publish, () => tell('publish', publishSample(sampleOf)));
  const video = at<HTMLButtonElement>('video');
  video.onclick = () => {
    // The API takes a video without a prompt, and charges for it.
    if (at<HTMLInputElement>('prompt').reportValidity())
      void guard(video, () => tell('video', makeVideo(sampleOf('textToVideo'))));
  };
  onChange(followVideo);
}

/** The sentence of the last step is not true any more once a later one has failed. */
async function tell(flow: string, story: Promise<void>): Promise<void> {
  await story.catch((error: Error) => {
    at(`${flow}-status`).replaceChildren();
    throw error;
  });
}

type SampleOf = (id: string) => ReturnType<Operation['sample']>;

async function publishSample(sampleOf: SampleOf): Promise<void> {
  clear('publish');
  const { signedUrl, node_version } = await expectOk(call(sampleOf('publishNodeVersion'), owner()));
  const pair = node_version as { node_id: string; version: string };
  mark('publish', 'publish', `Version ${pair.version} is registered and pending.`);
  await uploadSample(String(signedUrl), pair.version);
  mark('publish', 'upload', 'Its archive is uploaded and being checked.');
  const look = { ...sampleOf('bulkNodeVersions'), body: { node_versions: [pair] } };
  const read = async () => {
    const { node_versions } = await expectOk(call(look));
    const [found] = node_versions as [{ node_version: Record<string, string> }];
    return found.node_version;
  };
  await until(async () => (await read()).status === 'NodeVersionStatusActive');
  mark('publish', 'checked', 'The archive is accepted, and its bytes never change.');
  await until(async () => (await read()).host_node_extract_status !== 'pending');
  mark('publish', 'host-nodes', 'Its host nodes are read out of the code.');
  const file = `/index/v1/nodes/${pair.node_id}.json`;
  await until(async () => (await (await fetch(file)).text()).includes(`"${pair.version}"`));
  const page = `/site/index.html#/nodes/${pair.node_id}/${pair.version}`;
  const link = element('a', { href: page }, `See ${pair.node_id} ${pair.version} in the registry`);
  mark('publish', 'visible', link);
  await refresh();
}

/** The second half of a publish. */
export async function uploadSample(signedUrl: string, version: string): Promise<void> {
  const archive = await (await fetch(`/demo.zip?version=${encodeURIComponent(version)}`)).blob();
  const headers = { 'content-type': 'application/zip' };
  const { ok, status } = await fetch(signedUrl, { method: 'PUT', headers, body: archive });
  if (!ok) throw new Error(`The upload was answered with ${status}.`);
}

let followed: string | undefined;

async function makeVideo(sample: ReturnType<Operation['sample']>): Promise<void> {
  clear('video');
  followed = undefined;
  const prompt = at<HTMLInputElement>('prompt').value;
  mark('video', 'prompt', 'The request is on its way to the provider.');
  const task = await expectOk(call({ ...sample, body: { ...(sample.body as object), prompt } }, owner()));
  followed = String(task.task_id);
  mark('video', 'task', `Task ${followed} has started, for ${task.credits} credits.`);
  await refresh();
}

/** A task goes on after its request, so the page's view says how far it is. */
function followVideo({ state }: Stack): void {
  const received = state.notifications.filter(({ task }) => task === followed);
  const [latest] = received;
  if (!latest) return;
  const { media } = received.find((each) => each.media !== undefined) ?? {};
  mark('video', 'notifications', `Notified: ${latest.state}.`);
  if (!media) return;
  mark('video', 'film', element('span', {}, 'Here it is.', madeBy(media)));
  followed = undefined;
}

async function expectOk(reply: ReturnType<typeof call>): Promise<Record<string, unknown>> {
  const { status, body } = await reply;
  if (status >= 400) throw new Error(String(body.message));
  return body;
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < maxPolls; polls += 1) {
    if (await isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error('This takes too long. See the terminal.');
}

function clear(flow: string): void {
  for (const step of at(`${flow}-flow`).children) step.className = '';
  at(`${flow}-status`).replaceChildren();
}

function mark(flow: string, step: string, sentence: string | Node): void {
  const done = at(`${flow}-flow`).querySelector(`[data-step="${step}"]`);
  if (done) done.className = 'done';
  at(`${flow}-status`).replaceChildren(sentence);
}
