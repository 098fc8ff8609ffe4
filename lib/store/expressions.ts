import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { toAttribute } from './attribute-values.ts';

interface Expression {
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
}

type Comparison = '=' | '<>' | 'exists' | 'absent';

/** One clause of a condition: an attribute (or a path into a map), how it is compared, and with what. */
export type Clause = [attribute: string | string[], comparison: Comparison, value?: unknown];

/** A condition of which every clause must hold. Names go in by placeholder: many are reserved words. */
export function condition(...clauses: Clause[]): Expression {
  const names: Record<string, string> = {};
  const values: Record<string, AttributeValue> = {};
  const texts = clauses.map(([attribute, comparison, value], index) => {
    const path = [attribute].flat().map((part, depth) => {
      names[`#c${index}_${depth}`] = part;
      return `#c${index}_${depth}`;
    });
    if (comparison === 'exists') return `attribute_exists(${path.join('.')})`;
    if (comparison === 'absent') return `attribute_not_exists(${path.join('.')})`;
    values[`:c${index}`] = toAttribute(value);
    return `${path.join('.')} ${comparison} :c${index}`;
  });
  return {
    ConditionExpression: texts.join(' AND '),
    ExpressionAttributeNames: names,
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

/** An update by the rule of every partial update here: undefined keeps, null clears, anything else replaces. */
export function update(changes: Record<string, unknown>, ...clauses: Clause[]) {
  const names: Record<string, string> = { '#revision': 'revision' };
  const values: Record<string, AttributeValue> = { ':one': { N: '1' } };
  const sets: string[] = [];
  const removes: string[] = [];
  for (const [index, [field, value]] of Object.entries(changes).entries()) {
    if (value === undefined) continue;
    names[`#f${index}`] = field;
    if (value === null) removes.push(`#f${index}`);
    else {
      values[`:f${index}`] = toAttribute(value);
      sets.push(`#f${index} = :f${index}`);
    }
  }
  const guard = condition(...clauses);
  return {
    UpdateExpression: [
      'ADD #revision :one',
      sets.length > 0 && `SET ${sets.join(', ')}`,
      removes.length > 0 && `REMOVE ${removes.join(', ')}`,
    ]
      .filter(Boolean)
      .join(' '),
    ConditionExpression: guard.ConditionExpression,
    ExpressionAttributeNames: { ...names, ...guard.ExpressionAttributeNames },
    ExpressionAttributeValues: { ...values, ...guard.ExpressionAttributeValues },
  };
}
