/*
 * Parameters as a person enters them. An empty one counts as missing: the value in the stage's block applies,
 * otherwise the default in serverless.yml, otherwise the function's. The framework has no such rule, and
 * truncates values after their first line, so they are rewritten before the framework resolves them, after
 * plugins load.
 */

export type Blocks = Record<string, Record<string, unknown> | null>;

/** The command line with every parameter on one line, and without empty ones. */
export function readableArguments(args: readonly string[]): string[] {
  const joined = args.flatMap((arg, index) => {
    if (args[index - 1] === '--param') return [];
    return arg === '--param' ? [`--param=${args[index + 1] ?? ''}`] : [arg];
  });
  return joined
    .map((arg) => (arg.startsWith('--param=') ? arg.replaceAll(/\s*[\r\n]+\s*/g, ' ') : arg))
    .filter((arg) => !/^--param=[^=]+=\s*$/.test(arg));
}

/** Removes the empty values of each stage's block, except those that only npm start uses. */
export function removeEmpty({ default: _defaults, local: _local, ...stages }: Blocks): void {
  for (const block of Object.values(stages))
    for (const [name, value] of Object.entries(block ?? {})) if (value === '') delete block?.[name];
}

/** The name and value of each parameter, as the framework reads them. */
export function givenValues(pairs: readonly (string | null)[]): [name: string, value: string][] {
  return pairs
    .map((pair): [string, string] => {
      const [name = '', ...value] = (pair ?? '').split('=');
      return [name, value.join('=').trimEnd()];
    })
    .filter(([, value]) => value !== '');
}

export function malformedParameters(pairs: readonly (string | null)[]): string[] {
  return pairs
    .map((pair) => pair ?? '')
    .filter((pair) => !/^[^=]+=/.test(pair))
    .map((pair) => `--param=${pair} must be --param=<name>=<value>; the value may be empty.`);
}
