interface Servers {
  directory: string;
  running: { stop: () => Promise<void> }[];
}

/** What the global setup started and the global teardown stops, both in Jest's own process. */
export const servers: Servers = { directory: '', running: [] };
