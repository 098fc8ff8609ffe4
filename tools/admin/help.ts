import type { Command, Option } from './command.ts';
import { commands } from './commands.ts';
import { columns } from './layout.ts';

export const globalOptions: Record<string, Option> = {
  region: { value: 'REGION', about: 'Work on a deployed table of this region; together with --table' },
  table: { value: 'NAME', about: 'The deployed table, such as node-registry-production' },
  json: { about: 'Print JSON for programs instead of text for people' },
  help: { short: 'h', about: 'Explain a command instead of running it' },
};

const start = 'npm run admin --';

export function overview(): string {
  return lines(
    'Administers the registry: what no endpoint does.',
    '',
    `Usage: ${start} <noun> <verb> [parameters] [options]`,
    '',
    'Commands',
    columns(Object.entries(commands).map(([name, command]) => [usage(name, command), command.summary])),
    '',
    'Options of every command',
    optionLines(globalOptions),
    '',
    'Without --region and --table the local stack is used, which npm start brings up. With them the credentials',
    'are those of the AWS SDK: the environment, AWS_PROFILE, or a role.',
    '',
    'Examples',
    example('publisher create acme --name "Acme Nodes"'),
    example('member add acme auth0|1234 --role owner'),
    example('token create acme --label "release job" --days 90'),
    example('node-version ban some-node 1.2.0 --reason "Steals keys; see advisory 7"'),
    example('node show some-node --region eu-west-1 --table node-registry-production'),
    '  npm run --silent admin -- token list acme --json',
    '',
    `More on one of them: ${start} token create --help`,
  );
}

export function nounHelp(noun: string): string {
  const own = Object.entries(commands).filter(([name]) => name.startsWith(`${noun} `));
  return lines(
    `Usage: ${start} ${noun} <verb> [parameters] [options]`,
    '',
    columns(own.map(([name, command]) => [usage(name, command), command.summary])),
    '',
    'Examples',
    ...own.flatMap(([, command]) => command.examples.slice(0, 1).map(example)),
  );
}

export function commandHelp(name: string, command: Command): string {
  const { summary, notes, options, examples } = command;
  const hasOptions = Object.keys(options).length > 0;
  return lines(
    `${summary}.`,
    '',
    `Usage: ${start} ${usage(name, command)} [options]`,
    ...(notes ? ['', notes] : []),
    ...(hasOptions ? ['', 'Options', optionLines(options)] : []),
    '',
    'Options of every command',
    optionLines(globalOptions),
    '',
    'Examples',
    ...examples.map(example),
  );
}

/** The end of a sentence about a mistake: where to read how it is done. */
export function seeHelp(about = ''): string {
  return ` See ${[start, about, '--help'].filter(Boolean).join(' ')}`;
}

function usage(name: string, { parameters, options }: Command): string {
  const required = Object.entries(options)
    .filter(([, option]) => option.required)
    .map(([key, { value }]) => `--${key} ${value}`);
  return [name, ...parameters.map((parameter) => `<${parameter}>`), ...required].join(' ');
}

function optionLines(options: Record<string, Option>): string {
  const rows = Object.entries(options).map(([name, { short, value, about, required }]) => [
    `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`,
    required ? `${about} (needed)` : about,
  ]);
  return columns(rows);
}

function example(text: string): string {
  return `  ${start} ${text}`;
}

function lines(...texts: string[]): string {
  return `${texts.join('\n')}\n`;
}
