/** What roles.yml writes where a function reads a secret: the parameter that names it. */
export interface SecretReader {
  readsSecret: string;
}

export function isSecretReader(statement: unknown): statement is SecretReader {
  return typeof statement === 'object' && statement !== null && 'readsSecret' in statement;
}

/** The right to read what `ssm:<name>`, `secretsmanager:<name>` or `secretsmanager:<ARN>` names; none for an empty one. */
export function secretStatements({ readsSecret }: SecretReader): object[] {
  const [store, ...rest] = readsSecret.split(':');
  const name = rest.join(':');
  if (name === '') return [];
  if (store === 'ssm') return [allow('ssm:GetParameter', own('ssm', `parameter${name}`))];
  // An ARN may be another account's. To a name the store appends a hyphen and six characters.
  const secret = name.startsWith('arn:') ? name : own('secretsmanager', `secret:${name}-??????`);
  return [allow('secretsmanager:GetSecretValue', secret)];
}

function allow(action: string, resource: unknown): object {
  return { Effect: 'Allow', Action: action, Resource: resource };
}

/** A resource of the stage's own account and region. */
function own(service: string, resource: string): object {
  return { 'Fn::Sub': `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${resource}` };
}
