interface Servers {
  directory: string;
  running: { stop: () => Promise<void> }[];
}

/** The servers that the global setup starts and the global teardown stops, both in Jest's own process. */
export const servers: Servers = { directory: '', running: [] };
