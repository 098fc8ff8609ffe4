import { startProcess } from '../processes/start-process.ts';
import { localAddress, ports } from './addresses.ts';
import { startGateway } from './gateway.ts';
import type { RequestLog } from './request-log.ts';

interface Api {
  stop: () => Promise<void>;
}

/**
 * Serves every route of serverless.yml from the built bundles. serverless-offline runs in its own process, behind a
 * gateway that is as strict as the deployed one. It loads each function once: its default, a thread for each concurrent
 * invocation, took 4.4 GB at 64 connections. Once it is up, each line that a function logs goes to `onLine`, and each
 * answered request to `requests`.
 */
export async function startApi(
  onLine: (line: string) => void,
  requests: Pick<RequestLog, 'add'>,
  onEnd: (sentence: string) => void,
): Promise<Api> {
  const flags = [
    '--httpPort',
    String(ports.functions),
    '--lambdaPort',
    String(ports.lambda),
    '--noPrependStageInUrl',
    '--useInProcess',
  ];
  const functions = await startProcess({
    name: 'The local HTTP API',
    command: 'serverless',
    args: ['offline', 'start', '--stage', 'local', ...flags],
    env: { ...process.env, NODE_OPTIONS: '', SLS_TELEMETRY_DISABLED: '1', SLS_NOTIFICATIONS_MODE: 'off' },
    readyText: 'Server ready',
    timeoutMs: 90_000,
    onLine,
    onEnd,
  });
  const gateway = await startGateway(ports.api, localAddress(ports.functions), requests.add);
  const stop = async () => {
    await gateway.stop();
    await functions.stop();
  };
  return { stop };
}
