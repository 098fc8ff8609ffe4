import { dynamodb } from '../../lib/store/table.ts';

interface WatchedWrites {
  /** Every write that the table took, as it was sent. */
  done: string[];
  stop: () => void;
}

/** Records what is written, but for the records of Idempotency-Keys, which come and go with every request. */
export function watchWrites(): WatchedWrites {
  const name = 'watchWrites';
  const done: string[] = [];
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const sent = JSON.stringify(args.input);
        if (!/^(?:BatchGet|Get|Query|Scan)/.test(String(commandName)) && !sent.includes('IDEMPOTENCY#'))
          done.push(`${commandName} ${sent}`);
        return result;
      },
    { step: 'initialize', name },
  );
  return { done, stop: () => dynamodb.middlewareStack.remove(name) };
}
