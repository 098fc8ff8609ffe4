import { isObject } from '../json-object.ts';

const maxCandidates = 10;
const maxDepth = 4;

/** No secret of ours looks like this: tickets are longer. */
const idShape = /^[\w.:-]{1,40}$/;
const idName = /(?:^|[_-])(?:id|uuid)$/i;

/**
 * What may be the id of a task in a success that has none where it belongs, by where it stands: so a task that is paid for
 * can be found. Only short values are taken, and the rest of the reply, which repeats the request, is left out.
 */
export function idCandidates(content: unknown, headers: object): Record<string, string> {
  const found: [string, string][] = [];
  const visit = (value: unknown, path: string, depth: number) => {
    if (found.length >= maxCandidates || depth > maxDepth) return;
    const text = typeof value === 'number' ? String(value) : value;
    const name = path.slice(path.lastIndexOf('.') + 1).replace(/([a-z])(Id|ID)$/, '$1_id');
    if (typeof text === 'string' && idName.test(name) && idShape.test(text)) found.push([path, text]);
    else if (Array.isArray(value))
      for (const [index, item] of value.entries()) visit(item, `${path}.${index}`, depth + 1);
    else if (isObject(value))
      for (const [key, field] of Object.entries(value))
        visit(field, `${path}.${key.slice(0, 40)}`, depth + 1);
  };
  visit(headers, 'headers', 0);
  visit(content, 'body', 0);
  return Object.fromEntries(found);
}
