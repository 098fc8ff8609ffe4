/** The data that `npm start` seeds. The sample events and the README use it. */
export const demo = {
  publisherId: 'demo',
  owner: 'demo-owner',
  member: 'demo-member',
  nodeId: 'demo-node',
  version: '1.0.0',
  /** The ids of the first version and its upload, so that the sample events can name them. */
  versionId: '00000000-0000-4000-8000-000000000000',
  uploadId: '00000000-0000-4000-8000-000000000001',
  hostNodeName: 'Load Image (demo)',
  /** The secret of a task that the video provider may notify about. */
  taskSecret: 'c2FtcGxlLXNlY3JldC1vZi10aGUtZGVtby10YXNrLS0',
  /** Public. It works on the local stack only, whose seed stores its hash. */
  personalAccessToken: 'nrp_P3LzrsEE6AktLopXX7S2sZIcUbeJGl9K1LucTt',
} as const;
