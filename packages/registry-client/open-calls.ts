import { sha256 } from '@noble/hashes/sha2.js';
import { jsonOf } from './request.ts';

/** A paid call that may have started a task, but whose response was lost. */
interface OpenCall {
  /** The digest of its path and body. */
  digest: string;
  key: string;
  statusUrl: string | undefined;
  since: number;
  /** How many calls continue it now. */
  underWay: number;
}

/** The service forgets a key after a day, and would pay for it again. */
const keptMs = 86_400_000;

/** A client's calls with an unknown outcome. An equal call continues one of them instead of paying again. */
export class OpenCalls {
  #calls: OpenCall[] = [];

  /** The key of an equal call; of several, one that the fewest calls continue. */
  keyOf(path: string, body: unknown): string | undefined {
    this.#calls = this.#calls.filter(({ since }) => Date.now() - since < keptMs);
    if (this.#calls.length === 0) return undefined;
    const digest = digestOf(path, body);
    const equal = this.#calls.filter((call) => call.digest === digest);
    return equal.sort((one, other) => one.underWay - other.underWay)[0]?.key;
  }

  /** Call when a call with this key begins, or has ended. */
  count(key: string, change: 1 | -1): void {
    const call = this.#calls.find((each) => each.key === key);
    if (call) call.underWay += change;
  }

  add(path: string, body: unknown, key: string, statusUrl: string | undefined): void {
    const known = this.#calls.find((call) => call.key === key);
    if (known) known.statusUrl ??= statusUrl;
    else this.#calls.push({ digest: digestOf(path, body), key, statusUrl, since: Date.now(), underWay: 0 });
  }

  /** The outcome of a call is known: from its response, or from its status URL. */
  close(known: { key: string } | { statusUrl: string }): void {
    const isKnown = ({ key, statusUrl }: OpenCall) =>
      'key' in known ? key === known.key : statusUrl === known.statusUrl;
    this.#calls = this.#calls.filter((call) => !isKnown(call));
  }
}

/** Without `crypto.subtle`, which is missing on pages that came over plain http. */
function digestOf(path: string, body: unknown): string {
  return String(sha256(new TextEncoder().encode(`${path} ${jsonOf(body)}`)));
}
