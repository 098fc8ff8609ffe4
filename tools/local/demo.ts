/** The data that `npm start` seeds. The sample events and the README use it. */
export const demo = {
  publisherId: 'demo',
  owner: 'demo-owner',
  member: 'demo-member',
  nodeId: 'demo-node',
  version: '1.0.0',
  hostNodeName: 'Load Image (demo)',
  /** It is public. It works on the local stack only, whose seed stores its hash. */
  personalAccessToken: 'nrp_P3LzrsEE6AktLopXX7S2sZIcUbeJGl9K1LucTt',
} as const;
