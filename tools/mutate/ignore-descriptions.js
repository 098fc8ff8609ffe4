/** What a schema says of itself is for readers of docs/openapi.json: no test of what it takes or refuses can notice it. */
const isDescription = (path) =>
  path.isCallExpression() && /^z\.(?:describe|meta)$/.test(path.get('callee').toString());

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'descriptions',
    value: { shouldIgnore: (path) => (isDescription(path) ? 'A description' : undefined) },
  },
];
