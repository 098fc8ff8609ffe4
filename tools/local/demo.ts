/** What `npm start` seeds, the sample events speak of, and the example calls of the README use. */
export const demo = {
  publisherId: 'demo',
  owner: 'demo-owner',
  member: 'demo-member',
  nodeId: 'demo-node',
  version: '1.0.0',
  hostNodeName: 'Load Image (demo)',
  /** Known to everyone who reads this, and worth nothing but on the local stack, whose seed stores its hash. */
  personalAccessToken: 'nrp_P3LzrsEE6AktLopXX7S2sZIcUbeJGl9K1LucTt',
} as const;
