export interface Tag {
  name: string;
  isEnd: boolean;
  attributes: Record<string, string>;
}

const tagName = /<(\/?)([a-zA-Z][a-zA-Z0-9-]*)/y;
/** Each letter is read once: no two parts can match the same one. */
const attribute = /[\s/]*([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/y;
const tagEnd = /[\s/]*>/y;

/** The tags and texts of HTML, in one pass, without comments and without the content of closed `dropped` tags. */
export function* readTags(source: string, dropped: ReadonlySet<string>): Generator<Tag | string> {
  let at = 0;
  const endless = new Set<string>();
  const contentEnd = (name: string, from: number) => {
    const end = endless.has(name) ? undefined : elementEnd(source, name, from);
    if (end === undefined) endless.add(name);
    return end ?? from;
  };
  for (let next = source.indexOf('<'); next >= 0; next = source.indexOf('<', at)) {
    if (next > at) yield source.slice(at, next);
    at = next;
    const end = commentEnd(source, at);
    const found = end === undefined ? readTag(source, at) : undefined;
    if (end !== undefined) at = end;
    else if (found) {
      at = found.end;
      if (!dropped.has(found.name)) yield found;
      else if (!found.isEnd) at = contentEnd(found.name, at);
    } else {
      yield '<';
      at += 1;
    }
  }
  if (at < source.length) yield source.slice(at);
}

/** Where a comment or a declaration that begins here ends. */
function commentEnd(source: string, at: number): number | undefined {
  if (!/^<[!?]/.test(source.slice(at, at + 2))) return undefined;
  const close = source.startsWith('<!--', at) ? '-->' : '>';
  const end = source.indexOf(close, at + 2);
  return end < 0 ? source.length : end + close.length;
}

function elementEnd(source: string, name: string, at: number): number | undefined {
  const close = new RegExp(`</${name}[^>]*>`, 'gi');
  close.lastIndex = at;
  return close.exec(source) ? close.lastIndex : undefined;
}

function readTag(source: string, at: number): (Tag & { end: number }) | undefined {
  tagName.lastIndex = at;
  const [, slash, given] = tagName.exec(source) ?? [];
  if (given === undefined) return undefined;
  const attributes: Record<string, string> = {};
  let end = tagName.lastIndex;
  for (;;) {
    tagEnd.lastIndex = end;
    if (tagEnd.test(source))
      return { name: given.toLowerCase(), isEnd: slash === '/', attributes, end: tagEnd.lastIndex };
    attribute.lastIndex = end;
    const [, name, ...values] = attribute.exec(source) ?? [];
    if (name === undefined) return undefined;
    attributes[name.toLowerCase()] ??= values.find((value) => value !== undefined) ?? '';
    end = attribute.lastIndex;
  }
}
