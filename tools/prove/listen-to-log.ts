import { demo } from '../local/demo.ts';

interface Listener {
  /** What must stand in no log line and in no answer. */
  secrets: readonly string[];
  lines: readonly string[];
  leaks: readonly string[];
  count: number;
  stop: () => void;
}

const mostKept = 50;

/** Reads what the functions log in this process, instead of whoever read it so far. */
export function listenToLog(): Listener {
  const secrets = [
    demo.personalAccessToken,
    process.env.IMAGE_PROVIDER_KEY,
    process.env.VIDEO_PROVIDER_KEY,
  ].map(String);
  const usual = process.stdout;
  const lines: string[] = [];
  const leaks: string[] = [];
  const listener = {
    secrets,
    lines,
    leaks,
    count: 0,
    stop: () => void Object.defineProperty(process, 'stdout', { value: usual, configurable: true }),
  };
  const write = (line: string) => {
    listener.count += 1;
    lines.push(line);
    if (lines.length > mostKept) lines.shift();
    if (/Bearer ey/.test(line) || secrets.some((secret) => line.includes(secret))) leaks.push(line);
    return true;
  };
  Object.defineProperty(process, 'stdout', { value: { write }, configurable: true });
  return listener;
}
