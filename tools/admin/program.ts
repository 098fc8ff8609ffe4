import { type Command as Program, Help } from 'commander';
import { createCommand, type Output, requireValue, runCommand } from '@node-registry/command-line/command';
import { release } from '../../infra/release.ts';
import { ApiError } from '../../lib/errors.ts';
import { type Command, sentenceFor, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { Rejection } from './registry/administration.ts';
import { describeTarget, findActor, requireListening } from './target.ts';

const name = 'npm run admin --';
const notes =
  'Without --region and --table, commands act on the local stack of npm start. With them, the AWS SDK takes the credentials from the environment, AWS_PROFILE or a role. A command that changes something first prints its target on standard error.';

/** Asks the person at the terminal. */
export type Ask = (question: string) => Promise<boolean>;

/** The whole command line, made from `commands`: nouns, each with its verbs. */
function createProgram(output: Output, ask?: Ask): Program {
  const program = createCommand(
    {
      name,
      version: release.name,
      summary: 'Administers the registry: everything that has no endpoint',
      notes,
      examples: [
        'publisher create acme --name "Acme Nodes"',
        `member add acme 'auth0|1234' --role owner`,
        'token create acme --label "release job" --days 90',
        'node-version ban some-node 1.2.0 --reason "Steals keys; see advisory 7"',
        'node show some-node --region eu-west-1 --table node-registry-production',
        'token list acme --json',
      ],
    },
    output,
  )
    .usage('<noun> <verb> [parameters] [options]')
    .option('--region <REGION>', 'Work on a deployed table of this region, with --table', requireValue)
    .option('--table <NAME>', 'The deployed table, such as node-registry-production', requireValue)
    .option('--json', 'Print JSON instead of text, of a failure its status, error and message')
    .configureHelp({ formatHelp: formatOverview, subcommandTerm: termOf });
  const nouns = Map.groupBy(Object.entries(commands), ([words]) => words.replace(/ .*/, ''));
  for (const [noun, verbs] of nouns) {
    const group = createCommand({ name: noun }, output)
      .usage('<verb> [parameters] [options]')
      .configureHelp({ showGlobalOptions: true, subcommandTerm: termOf });
    for (const [words, command] of verbs) {
      const { isDefault = false } = command;
      group.addCommand(createVerb(words.replace(/.* /, ''), command, output, ask), { isDefault });
      // So --help reaches the verb, which has the options.
      if (isDefault) group.helpOption(false);
    }
    program.addCommand(group);
  }
  return program;
}

/** Lists every verb instead of the nouns. Commander needs the nouns to suggest one for a misspelled word. */
function formatOverview(program: Program, help: Help): string {
  const visibleCommands = ({ commands: nouns }: Program) =>
    nouns.flatMap(({ commands: verbs }) => [...verbs]);
  return Help.prototype.formatHelp.call(Object.assign(help, { visibleCommands }), program, help);
}

/** A line in the list of commands: noun, verb, parameters and required options. */
function termOf(verb: Program): string {
  return `${verb.parent?.name()} ${verb.name()} ${verb.usage()}`.replace(' [options]', '');
}

const publicReason: Command['options'] = {
  'public-reason': { value: 'TEXT', about: 'The reason that its owners see in their history' },
};

function createVerb(
  verb: string,
  { parameters, areOptional, options, impact, readsOnly, tellsOwners, run, ...about }: Command,
  output: Output,
  ask: Ask | undefined,
): Program {
  const program = createCommand({ name: verb, ...about }, output).allowExcessArguments(false);
  const needed = parameters.map((parameter) => (areOptional ? `[${parameter}]` : `<${parameter}>`));
  for (const argument of needed) program.argument(argument, '', requireValue);
  const known = Object.entries({ ...options, ...(tellsOwners && publicReason) });
  for (const [name, { value, about, required }] of known) {
    const flags = `--${name}${value ? ` <${value}>` : ''}`;
    if (required) needed.push(flags);
    if (required) program.requiredOption(flags, about);
    else if (value) program.option(flags, about, requireValue);
    else program.option(flags, about);
  }
  if (impact) program.option('--yes', 'Do it on a deployed table without asking');
  program.usage([...needed, '[options]'].join(' '));
  return program.action(async () => {
    const values = Object.fromEntries(
      program.options.map((option) => [option.name(), program.getOptionValue(option.attributeName())]),
    );
    const { region, table, json, yes } = program.optsWithGlobals();
    if ((region === undefined) !== (table === undefined))
      program.error('The options --region and --table go together: both, or neither for the local stack.');
    if (json && values.csv) program.error('The options --json and --csv exclude each other.');
    await requireListening();
    const given = Object.fromEntries(
      parameters.map((parameter, index) => [parameter, program.args[index] ?? '']),
    );
    if (impact && region !== undefined && !yes) {
      const sentence = `In ${table}, this ${await impact(given, values)}.`;
      if (!ask) return program.error(`${sentence} Repeat it with --yes to do it.`);
      if (!(await ask(`${sentence} Do it?`))) throw new Rejection('Nothing was changed.');
    }
    const place = region === undefined ? '' : ` --region ${region} --table ${table}`;
    const suggest = (words: string) => `${name} ${words}${place}`;
    if (!readsOnly) output.stderr.write(`Target: ${describeTarget()}\n`);
    const operator = await findActor(!readsOnly && region !== undefined);
    const reason = values['public-reason'];
    const actor = { operator, ...(reason && { publicReason: reason }) };
    const { data, text, problem } = await run(given, values, { actor, suggest });
    output.stdout.write(`${(json ? JSON.stringify(data, null, 2) : text).trimEnd()}\n`);
    if (problem !== undefined) throw new Rejection(problem);
  });
}

/**
 * Runs one command line. Its status is 0 for success, 1 for a failure, and 2 for a command line that is invalid. `live` gets
 * the text as it is written.
 */
export async function runCommandLine(args: string[], ask?: Ask, live?: Output) {
  const result = { status: 0, stdout: '', stderr: '' };
  const copied = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      result[name] += text;
      live?.[name].write(text);
    },
  });
  const output = { stdout: copied('stdout'), stderr: copied('stderr') };
  const program = createProgram(output, ask);
  const fail = (error: string, message: string) => {
    if (args.includes('--json') && result.stdout === '')
      output.stdout.write(`${JSON.stringify({ status: 'failed', error, message }, null, 2)}\n`);
  };
  try {
    result.status = await runCommand(program, args.length > 0 ? args : ['--help']);
    if (result.status !== 0) fail('usage', result.stderr.trimEnd());
  } catch (error) {
    const sentence = sentenceFor(error);
    if (sentence === undefined) {
      fail('internal_error', String(error));
      // A bug of ours, and its stack helps.
      throw error;
    }
    result.status = error instanceof UsageError ? 2 : 1;
    output.stderr.write(`${sentence}\n`);
    fail(
      error instanceof UsageError ? 'usage' : error instanceof ApiError ? error.code : 'rejected',
      sentence,
    );
  }
  return result;
}
