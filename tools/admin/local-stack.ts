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
