import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Aws {
  /** Calls one operation with the input and output of its API. */
  call: <Output = unknown>(service: string, operation: string, input: object) => Promise<Output>;
  pause: (ms: number) => Promise<unknown>;
}

/** An error that AWS named. */
export class AwsError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Operators have the AWS CLI and its credentials, so no SDK is installed for an operation that is rare. */
export function awsCli(region: string): Aws {
  const call: Aws['call'] = async (service, operation, input) => {
    const options = ['--region', region, '--output', 'json', '--cli-input-json', JSON.stringify(input)];
    // Version 2 of the CLI starts a pager, which waits for a key.
    const env = { ...process.env, AWS_PAGER: '' };
    try {
      const { stdout } = await promisify(execFile)('aws', [service, operation, ...options], { env });
      return JSON.parse(stdout || '{}');
    } catch (error) {
      const text = (error as { stderr?: string }).stderr ?? '';
      const [, code] = /\((\w+)\) when calling/.exec(text) ?? [];
      throw code === undefined ? error : new AwsError(code, text.trim());
    }
  };
  return { call, pause };
}
