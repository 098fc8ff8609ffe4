// Next.js, app/films/route.js, and every server with Request and Response: buys, and lets the page wait.
import { RegistryError } from '@node-registry/registry-client';
import { registry } from './registry.mjs';

// Your own: who is signed in.
const customerOf = (request) => request.headers.get('x-customer');

export async function POST(request) {
  const { order, prompt } = await request.json();
  try {
    // The customer's name keeps one from another's order.
    const name = `${customerOf(request)}/${order}`;
    const { statusUrl } = await registry.videos.fromText({ prompt }, { order: name });
    return Response.json({ statusUrl });
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    // The answer was lost: whether the task has started, its status tells.
    if (error.statusUrl) return Response.json({ statusUrl: error.statusUrl });
    return Response.json(
      { problem: error.userMessage, isOpen: error.mayBeDone },
      { status: error.status ?? 503 },
    );
  }
}
