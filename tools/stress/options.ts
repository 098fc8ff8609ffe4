import { type Command, InvalidArgumentError, Option } from 'commander';
import { createCommand, wholeNumber } from '../command-line/command.ts';
import { fields } from '../command-line/table.ts';
import type { Length } from './check.ts';
import { type CheckName, checks, isCheckName } from './checks.ts';

export interface Choice {
  length: Length;
  names: CheckName[];
  seed: number;
  properties: string[] | undefined;
  path: string | undefined;
}

interface Values {
  short?: true;
  long?: true;
  only: string[];
  seed: number;
  path?: string;
}

const about = Object.fromEntries(Object.entries(checks).map(([name, { about }]) => [name, about]));

export function stressCommand(run: (choice: Choice) => Promise<void>): Command {
  return createCommand({
    name: 'npm run stress --',
    summary:
      'Searches for bugs in the eight endpoints and the finalizer, with separate stores and simulated providers',
    notes: 'Exits with 1 if a check failed, and shows each failure with the command that replays it.',
    examples: ['--short', '--only fuzz,races --seed 2'],
  })
    .addOption(new Option('--short', 'Seconds instead of minutes').conflicts('long'))
    .option('--long', 'Three times as many runs, and ten minutes of load instead of half of one')
    .option(
      '--only <names>',
      'These checks, or properties such as fuzz/requests',
      namesIn,
      Object.keys(checks),
    )
    .option('--seed <n>', 'A different sequence of random choices', wholeNumber(0, 999_999_999), 1)
    .option('--path <path>', 'Only the one failure that an earlier run reported for its seed')
    .addHelpText('after', `\nChecks:\n${fields(about).replaceAll(/^/gm, '  ')}`)
    .action(async ({ short, long, only, seed, path }: Values, command: Command) => {
      const properties = only.filter((name) => name.includes('/'));
      if (path !== undefined && (properties.length !== 1 || only.length !== 1))
        command.error("option '--path' needs --only with one CHECK/PROPERTY");
      const names = only.map(checkOf).filter(isCheckName);
      await run({
        length: short ? 'short' : long ? 'long' : 'usual',
        names: [...new Set(names)],
        seed,
        properties: properties.length > 0 ? properties : undefined,
        path,
      });
    });
}

function namesIn(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isCheckName(checkOf(name)));
  if (unknown.length > 0) throw new InvalidArgumentError(`There is no check "${unknown.join(', ')}".`);
  return names;
}

function checkOf(name: string): string {
  return name.split('/')[0] ?? '';
}
