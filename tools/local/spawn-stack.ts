import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../processes/start-process.ts';

export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

interface Place {
  offset: number;
  directory: string;
}

/** `npm start` as a user types it, on ports and in a folder of its own. The example nodes are work that few tests need. */
export async function startLocalStack(given?: Place, options = ['--empty']) {
  const place = given ?? {
    offset: freshOffset(),
    directory: await mkdtemp(join(tmpdir(), 'node-registry-stack-')),
  };
  const { offset, directory } = place;
  const environment = cleanEnvironment(place);
  const later: string[] = [];
  const stack = await startProcess({
    name: 'The local stack',
    command: 'npm',
    args: ['start', '--', ...options],
    env: environment,
    readyText: 'Ctrl-C stops everything',
    timeoutMs: 100_000,
    stopSignal: 'SIGINT',
    // It gives its own parts a grace period first.
    graceMs: 30_000,
    isGroup: true,
    onLine: (line) => later.push(line),
  });
  const tokens = new Map(
    [...stack.startOutput.matchAll(/^ *([A-Z_]+)='([^']+)'$/gm)].map(([, name = '', token = '']) => [
      name,
      token,
    ]),
  );
  const at = (port: number) => `http://localhost:${port + offset}`;
  return {
    apiUrl: at(3000),
    simulatorsUrl: at(3003),
    pagesUrl: at(3004),
    siteUrl: at(3006),
    accountUrl: at(3007),
    /** For commands: the offset of its ports is their only hint to where it is. */
    environment,
    /** Its ports and data folder, so that it can be started there again. */
    place,
    processes: () => processesOf(stack.pid),
    /** Its output so far. */
    output: () => [stack.startOutput, ...later].join('\n'),
    /** A token as the banner prints it, such as OWNER. */
    token: (name: string) => tokens.get(name) ?? '',
    /** Like Ctrl-C in a terminal: the signal goes to the whole group. Deletes the data unless told not to. */
    async stop({ keepData } = { keepData: false }): Promise<void> {
      await stack.stop();
      if (!keepData) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** All processes of a group, npm included, with their resident memory. */
function processesOf(group: number) {
  const text = execFileSync('ps', ['-eo', 'pgid=,pid=,rss=,args='], { encoding: 'utf8' });
  const processes = text.matchAll(/^ *(\d+) +(\d+) +(\d+) +(.*)$/gm);
  return [...processes].flatMap(([, pgid, pid, kilobytes, commandLine = '']) =>
    Number(pgid) === group ? { pid: Number(pid), kilobytes: Number(kilobytes), commandLine } : [],
  );
}

const runs = 28;
let run = Math.floor(Math.random() * runs);

/** Below the ephemeral ports, and different for two workers of a test run, and for two stacks of a file. */
function freshOffset(): number {
  const worker = Number(process.env.JEST_WORKER_ID ?? 0);
  run = (run + 1) % runs;
  return 10_000 + 10 * (16 * run + (worker % 16));
}

/** Without the variables that the test run set for its own servers. */
function cleanEnvironment({ offset, directory }: Place): NodeJS.ProcessEnv {
  const ours =
    /^(?:(?:AWS|TOKEN|TABLE|BUCKET|IMAGE_PROVIDER|VIDEO_PROVIDER|NOTIFICATION|NOTIFY)_|NOTIFICATIONS$|CI_(?:AUDIENCE|ISSUERS)$)/;
  const rest = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  return {
    ...rest,
    NODE_OPTIONS: '--conditions=in-tree',
    LOCAL_PORT_OFFSET: String(offset),
    LOCAL_DIRECTORY: directory,
  };
}
