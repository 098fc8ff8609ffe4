import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

interface About {
  /** The words to type. For a subcommand, only its own word. */
  name: string;
  /** One sentence without a period. */
  summary?: string;
  notes?: string | undefined;
  /** Arguments for examples that can be pasted. */
  examples?: readonly string[];
  /** Prints it with --version. */
  version?: string;
}

export interface Output {
  stdout: { write: (text: string) => unknown };
  stderr: { write: (text: string) => unknown };
}

class CommandLine extends Command {
  /** Checked last. Commander itself would report a misspelled option as missing. */
  override requiredOption(flags: string, description = ''): this {
    const option = new Option(flags, `${description} (required)`).argParser(requireValue);
    return this.addOption(option).hook('preAction', () => {
      if (this.getOptionValue(option.attributeName()) === undefined)
        this.error(`Option '${flags}' is required.`);
    });
  }
}

/** A commander command that reports a mistake in one sentence, and points to the help. */
export function createCommand(
  { name, summary, notes, examples = [], version }: About,
  output: Output = process,
): Command {
  const command = new CommandLine(name)
    .summary(summary ?? '')
    .description([summary && `${summary}.`, notes?.replaceAll('\n', ' ')].filter(Boolean).join('\n\n'))
    .helpOption('-h, --help', 'Show help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => output.stdout.write(text),
      writeErr: (text) => output.stderr.write(text),
      outputError: (text, write) => write(`${sentenceOf(text)} See ${fullName(command)} --help\n`),
    })
    .exitOverride();
  if (version !== undefined) command.version(version, '-V, --version', 'Show the version');
  if (examples.length > 0)
    command.addHelpText('after', () => {
      const start = fullName(command).slice(0, rootName(command).length);
      return ['\nExamples:', ...examples.map((example) => `  ${start} ${example}`)].join('\n');
    });
  return command;
}

/** To be called once in a process: a reader such as `head` may exit early, which must not stop a command. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/** Runs a command line. Returns its exit status: 0 for success, 1 for a failure, 2 for an invalid line. */
export async function runCommand(command: Command, args: readonly string[]): Promise<number> {
  try {
    await command.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

/** Runs the command line of this process. An error becomes its message; a status set by the command stays. */
export async function runProgram(command: Command): Promise<void> {
  outliveReaders();
  const status = await runCommand(command, process.argv.slice(2)).catch(({ message }: Error) => {
    process.stderr.write(`${message}\n`);
    return 1;
  });
  process.exitCode ||= status;
}

/** The next word may be another option, if the value was forgotten. */
export function requireValue(text: string): string {
  if (text.trim() !== '' && !text.startsWith('--')) return text;
  throw new InvalidArgumentError('It needs a value.');
}

/** For the value of an option. No timer takes many more seconds. */
export function positiveNumber(text: string): number {
  if (Number(text) > 0 && Number(text) <= 2_000_000) return Number(text);
  throw new InvalidArgumentError('It must be a number above 0, up to 2000000.');
}

function rootName(command: Command): string {
  return command.parent ? rootName(command.parent) : command.name();
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

/** Commander's "error: unknown option '--lable'\n(Did you mean --label?)" as prose. */
function sentenceOf(text: string): string {
  const [first = '', ...rest] = text
    .trim()
    .replace(/^error: (?:command-argument )?/, '')
    .split('\n');
  const sentence = first.charAt(0).toUpperCase() + first.slice(1);
  return [
    /[.?!]$/.test(sentence) ? sentence : `${sentence}.`,
    ...rest.map((line) => line.replace(/^\((.*)\)$/, '$1')),
  ].join(' ');
}
