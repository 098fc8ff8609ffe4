import { type Command, InvalidArgumentError, Option } from 'commander';
import { createCommand, wholeNumber } from '../command-line/command.ts';
import { fields } from '../command-line/table.ts';
import type { Length } from './check.ts';
import { type CheckName, checks, isCheckName } from './checks.ts';

export interface Choice {
  length: Length;
  /** Each check once, with its selected properties, or undefined for all of them. */
  selected: { name: CheckName; properties: string[] | undefined }[];
  seed: number;
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
      if (path !== undefined && (only.length !== 1 || !only[0]?.includes('/')))
        command.error("option '--path' needs --only with one CHECK/PROPERTY");
      const names = [...new Set(only.map(checkOf).filter(isCheckName))];
      await run({
        length: short ? 'short' : long ? 'long' : 'usual',
        selected: names.map((name) => ({ name, properties: propertiesOf(name, only) })),
        seed,
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

function propertiesOf(name: CheckName, only: readonly string[]): string[] | undefined {
  return only.includes(name) ? undefined : only.filter((each) => checkOf(each) === name);
}

function checkOf(name: string): string {
  return name.split('/')[0] ?? '';
}
