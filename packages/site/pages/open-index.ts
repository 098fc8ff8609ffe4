import { createPublicIndex, type PublicIndex } from '../../registry-client/public-index.ts';

/** A distribution lets a file be a minute old, so within it no letter of a search asks again. */
const freshMs = 60_000;

/** The index of the host that serves this page. */
export function openIndex(): PublicIndex {
  const kept = new Map<string, { at: number; response: Response }>();
  const fetchFresh: typeof fetch = async (url, init) => {
    const known = kept.get(String(url));
    if (known && Date.now() - known.at < freshMs) return known.response.clone();
    const response = await fetch(url, init);
    if (response.ok) kept.set(String(url), { at: Date.now(), response: response.clone() });
    return response;
  };
  return createPublicIndex({ downloadsUrl: location.origin, fetch: fetchFresh, attempts: 2 });
}
