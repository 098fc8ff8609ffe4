/** Descriptions in a schema are for readers of docs/openapi.json. No test of behavior can notice a change to them. */
const isDescription = (path) =>
  path.isCallExpression() && /^z\.(?:describe|meta)$/.test(path.get('callee').toString());

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'descriptions',
    value: { shouldIgnore: (path) => (isDescription(path) ? 'A description' : undefined) },
  },
];
