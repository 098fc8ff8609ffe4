import { createPublicIndex } from '../../registry-client/public-index.ts';

export type PublicIndex = ReturnType<typeof createPublicIndex>;

/** The distribution lets a file be a minute old, so within it nothing is asked again. */
const freshMs = 60_000;

/** The index of the host that serves this page. */
export function openIndex(): PublicIndex {
  const readAt = new Map<string, number>();
  const fetchStale: typeof fetch = async (url, init) => {
    const isKnown = new Headers(init?.headers).has('if-none-match');
    if (isKnown && Date.now() - (readAt.get(String(url)) ?? 0) < freshMs)
      return new Response(null, { status: 304 });
    const response = await fetch(url, init);
    readAt.set(String(url), Date.now());
    return response;
  };
  return createPublicIndex({ downloadsUrl: location.origin, fetch: fetchStale });
}
