import { demo } from '../../tools/local/demo.ts';

export interface LogReader {
  /** Texts that no log line and no answer may contain. */
  secrets: string[];
  lastLine: string | undefined;
  leaks: readonly string[];
  count: number;
  stop: () => void;
}

/** Reads what the functions log in this process. */
export function readLog(): LogReader {
  const { IMAGE_PROVIDER_KEY, VIDEO_PROVIDER_KEY } = process.env;
  const secrets = [demo.personalAccessToken, IMAGE_PROVIDER_KEY, VIDEO_PROVIDER_KEY].map(String);
  const usual = process.stdout;
  const leaks: string[] = [];
  const replaceWith = (value: object) =>
    void Object.defineProperty(process, 'stdout', { value, configurable: true });
  const reader: LogReader = { secrets, lastLine: undefined, leaks, count: 0, stop: () => replaceWith(usual) };
  const write = (line: string) => {
    reader.count += 1;
    reader.lastLine = line;
    if (/Bearer ey/.test(line) || secrets.some((secret) => line.includes(secret))) leaks.push(line);
    return true;
  };
  replaceWith({ write });
  return reader;
}
