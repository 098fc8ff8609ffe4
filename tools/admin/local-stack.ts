/** LOCAL_PORT_OFFSET is added to every port of the local stack, so that two stacks can run side by side. */
export const portOffset = Number(process.env.LOCAL_PORT_OFFSET ?? 0);

/** The stores of the local stack: commands use them unless they name a deployed table. */
export const localStores = {
  dynamodbPort: 8000 + portOffset,
  s3Port: 4569 + portOffset,
  tableName: 'node-registry-local',
  bucketName: 'node-registry-archives-local',
};

export function localAddress(port: number): string {
  return `http://localhost:${port}`;
}

const pages = localAddress(3004 + portOffset);

/** What a deployed stage says in its outputs `SiteSettings` and `CallerLimits`. */
export const localOutputs = {
  CREDITS_PER_DAY: '2000',
  SITE_URL: localAddress(3006 + portOffset),
  SITE_LINKS: `Your account=${localAddress(3007 + portOffset)}/, Local stack=${pages}/, API reference=${pages}/reference/`,
};
