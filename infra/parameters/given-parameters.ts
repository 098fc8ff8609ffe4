/*
 * Parameters as a person types them. Of a value the framework takes the first line, and none that is empty; but it cuts
 * blanks off its end. So what it would not take is rewritten before it reads the command line again, which it does once
 * plugins are loaded.
 */

/** The command line with every parameter on one line, and a blank for an empty value. */
export function readableArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const isParameter = arg.startsWith('--param=') || args[index - 1] === '--param';
    if (!isParameter) return arg;
    const line = arg.replaceAll(/\s*[\r\n]+\s*/g, ' ');
    return /^(?:--param=)?[^=]+=$/.test(line) ? `${line} ` : line;
  });
}

/** The name and the value of each parameter, the value as the framework reads it. */
export function givenValues(pairs: readonly (string | null)[]): [name: string, value: string][] {
  return pairs.map((pair) => {
    const [name = '', ...value] = (pair ?? '').split('=');
    return [name, value.join('=').trimEnd()];
  });
}

/** What is no name and value, in sentences. */
export function malformedParameters(pairs: readonly (string | null)[]): string[] {
  return pairs
    .map((pair) => pair ?? '')
    .filter((pair) => !/^[^=]+=/.test(pair))
    .map((pair) => `--param=${pair} must be --param=<name>=<value>; the value may be empty.`);
}
