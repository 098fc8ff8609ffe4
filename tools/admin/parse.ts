import { parseArgs } from 'node:util';
import { type Command, type Option, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { commandHelp, globalOptions, nounHelp, overview, seeHelp } from './help.ts';
import { didYouMean } from './nearest.ts';

type Values = Record<string, string | boolean | undefined>;

interface Parsed {
  command: Command;
  parameters: Record<string, string>;
  options: Values;
  json: boolean;
}

/** Understands a command line as far as help or a command with all that it needs; else says what is wrong. */
export function parseCommandLine(args: string[]): Parsed | { help: string } {
  const { values, positionals } = readLoosely(args);
  const [noun, verb, ...rest] = positionals;
  if (noun === undefined) {
    if (values.help || args.length === 0) return { help: overview() };
    throw new UsageError(`Say what to do, such as "publisher show demo".${seeHelp()}`);
  }
  const verbs = verbsOf(noun);
  if (verb === undefined) {
    if (values.help) return { help: nounHelp(noun) };
    throw new UsageError(`Say what to do with a ${noun}: ${verbs.join(', ')}.${seeHelp(noun)}`);
  }
  const name = `${noun} ${verb}`;
  const command = commands[name];
  if (!command) {
    const guess = didYouMean(verb, verbs) || ` It takes ${verbs.join(', ')}.`;
    throw new UsageError(`Unknown command "${name}".${guess}${seeHelp(noun)}`);
  }
  if (values.help) return { help: commandHelp(name, command) };
  const options = readStrictly(args, name, command);
  return { command, parameters: readParameters(rest, name, command), options, json: options.json === true };
}

/** Options may stand before the noun, so all that exist must be known to tell a value from a noun. */
function readLoosely(args: string[]) {
  const all = Object.assign({}, globalOptions, ...Object.values(commands).map(({ options }) => options));
  return parseArgs({ args, strict: false, allowPositionals: true, options: forNode(all) });
}

function verbsOf(noun: string): string[] {
  const names = Object.keys(commands).map((name) => name.split(' '));
  const verbs = names.filter(([first]) => first === noun).map(([, verb]) => String(verb));
  if (verbs.length > 0) return verbs;
  const guess = didYouMean(
    noun,
    names.map(([first]) => String(first)),
  );
  throw new UsageError(`Unknown command "${noun}".${guess}${seeHelp()}`);
}

function readStrictly(args: string[], name: string, command: Command): Values {
  const known = { ...command.options, ...globalOptions };
  const { values, tokens } = parseArgs({
    args,
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: forNode(known),
  });
  for (const token of tokens) if (token.kind === 'option') requireUsable(token, name, known);
  const missing = Object.entries(command.options).find(([key, { required }]) => required && !values[key]);
  if (missing) throw new UsageError(`"${name}" needs --${missing[0]} ${missing[1].value}.${seeHelp(name)}`);
  if ((values.region === undefined) !== (values.table === undefined))
    throw new UsageError(
      'The options --region and --table go together: both, or neither for the local stack.',
    );
  return values as Values;
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function requireUsable(
  { name, rawName, value, inlineValue }: OptionToken,
  commandName: string,
  known: Record<string, Option>,
): void {
  const option = Object.hasOwn(known, name) ? known[name] : undefined;
  if (!option) {
    const guess = didYouMean(name, Object.keys(known), '--');
    throw new UsageError(`Unknown option "${rawName}" for "${commandName}".${guess}${seeHelp(commandName)}`);
  }
  if (option.value === undefined && value !== undefined) throw new UsageError(`${rawName} takes no value.`);
  // What follows may be the next option, with the value forgotten; one that begins with "-" goes in by "=".
  const isForgotten = !value || (!inlineValue && value.startsWith('-'));
  if (option.value !== undefined && isForgotten)
    throw new UsageError(`${rawName} needs a value: ${rawName}=${option.value}.${seeHelp(commandName)}`);
}

function readParameters(given: string[], name: string, command: Command): Record<string, string> {
  const { parameters } = command;
  const surplus = given[parameters.length];
  if (surplus !== undefined)
    throw new UsageError(`"${surplus}" is one word too many for "${name}".${seeHelp(name)}`);
  const missing = parameters.filter((_, index) => !given[index]);
  if (missing.length > 0) {
    const names = missing.map((parameter) => `<${parameter}>`).join(' ');
    throw new UsageError(`After "${[name, ...given].join(' ')}", ${names} is missing.${seeHelp(name)}`);
  }
  return Object.fromEntries(parameters.map((parameter, index) => [parameter, String(given[index])]));
}

function forNode(options: Record<string, Option>) {
  const entries = Object.entries(options).map(([name, { value, short }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', ...(short && { short }) },
  ]);
  return Object.fromEntries(entries) as Record<string, { type: 'boolean' | 'string'; short?: string }>;
}
