import { isObject } from '../json.ts';

const maxCandidates = 10;
const maxDepth = 4;

/** No secret of ours matches: tickets are longer. */
const idShape = /^[\w.:-]{1,40}$/;
const idName = /(?:^|[_-])(?:id|uuid)$/i;

/**
 * Possible task IDs in a success without one, by path, so that a paid task can be found. Only short values are taken: the
 * rest of the reply repeats the request.
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
