/** What the headers of an answer say about a request, in a form for programs. */

/** A limit of the caller, such as `credits-per-day`. */
export interface RateLimit {
  name: string;
  limit: number | undefined;
  windowSeconds: number | undefined;
  remaining: number | undefined;
  /** After how many seconds it starts over. */
  resetSeconds: number | undefined;
}

/** The URL of a task's status; undefined if the service gave none, because it relays no notifications. */
export function statusUrlOf({ headers }: Response): string | undefined {
  return /<(https?:[^>]+)>\s*;\s*rel="?status"?/.exec(headers.get('link') ?? '')?.[1];
}

/** The fields of a request that the service didn't use, by their paths: probably they are misspelled. */
export function ignoredFieldsOf({ headers }: Response): string[] {
  return stringsIn(headers.get('x-ignored-fields')).map(({ text }) => text);
}

export function rateLimitsOf({ headers }: Response): RateLimit[] {
  const left = stringsIn(headers.get('ratelimit'));
  return stringsIn(headers.get('ratelimit-policy')).map(({ text: name, parameters: policy }) => {
    const now = left.find(({ text }) => text === name)?.parameters;
    return {
      ...{ name, limit: number(policy.q), windowSeconds: number(policy.w) },
      ...{ remaining: number(now?.r), resetSeconds: number(now?.t) },
    };
  });
}

export function creditsOf({ headers }: Response): number | undefined {
  return number(headers.get('x-credits-used'));
}

function number(text: string | null | undefined): number | undefined {
  return text && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

interface Item {
  text: string;
  parameters: Record<string, string>;
}

/** A structured-field list of strings with parameters (RFC 9651). An invalid list means nothing. */
function stringsIn(field: string | null): Item[] {
  const list = field?.trim() ?? '';
  const member = /\s*"((?:[^"\\]|\\["\\])*)"((?:;\s*[a-z*][\w.*-]*(?:=[^;,"\s]+)?)*)\s*(?:,|$)/y;
  const items: Item[] = [];
  while (member.lastIndex < list.length) {
    const found = member.exec(list);
    if (!found) return [];
    const [, text = '', rest = ''] = found;
    const pairs = [...rest.matchAll(/;\s*([^=;]+)=?([^;]*)/g)];
    const parameters = Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
    items.push({ text: text.replaceAll(/\\(.)/g, '$1'), parameters });
  }
  return items;
}
