import { execFile } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { commands } from '../../tools/admin/commands.ts';
import { parseCommandLine } from '../../tools/admin/parse.ts';
import { admin } from '../support/admin.ts';

describe('a command line that is not understood', () => {
  test.each([
    ['tokn create demo', 'Unknown command "tokn". Did you mean "token"? See npm run admin -- --help'],
    [
      'token craete demo',
      'Unknown command "token craete". Did you mean "create"? See npm run admin -- token --help',
    ],
    ['token', 'Say what to do with a token: create, list, revoke. See npm run admin -- token --help'],
    ['xyzzy', 'Unknown command "xyzzy". See npm run admin -- --help'],
    ['--json', 'Say what to do, such as "publisher show demo". See npm run admin -- --help'],
    [
      'token create demo --lable x',
      'Unknown option "--lable" for "token create". Did you mean "--label"? See npm run admin -- token create --help',
    ],
    [
      'node show demo --days 3',
      'Unknown option "--days" for "node show". See npm run admin -- node show --help',
    ],
    ['token create demo', '"token create" needs --label TEXT. See npm run admin -- token create --help'],
    ['token list demo --json=1', '--json takes no value.'],
    [
      'token create --label x',
      'After "token create", <publisher> is missing. See npm run admin -- token create --help',
    ],
    ['node show a b', '"b" is one word too many for "node show". See npm run admin -- node show --help'],
    [
      'node show a --region here',
      'The options --region and --table go together: both, or neither for the local stack.',
    ],
    [
      'token create demo --label --days 3',
      '--label needs a value: --label=TEXT. See npm run admin -- token create --help',
    ],
    ['token create demo --label x --days 0', '--days takes a whole number from 1 to 3650.'],
    ['member add demo x --role boss', 'The role "boss" is none: it is owner or member.'],
    ['member add demo x --email nowhere', '"nowhere" is not an e-mail address.'],
  ])('says so in one sentence: %s', async (line, sentence) => {
    const result = await admin(...line.split(' '));

    expect(result).toEqual({ status: 2, stdout: '', stderr: `${sentence}\n` });
  });
});

describe('--help', () => {
  test('lists every command', async () => {
    const { status, stdout } = await admin('--help');

    expect(status).toBe(0);
    for (const name of Object.keys(commands)) expect(stdout).toContain(`\n  ${name} `);
  });

  test.each(Object.keys(commands))(
    'of %s shows its options, and examples that are understood',
    async (name) => {
      const { status, stdout } = await admin(...name.split(' '), '--help');
      const examples = stdout.split('\nExamples\n')[1]?.trimEnd().split('\n') ?? [];

      expect(status).toBe(0);
      for (const option of Object.keys(commands[name]?.options ?? {}))
        expect(stdout).toContain(`--${option}`);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        const parsed = parseCommandLine(wordsOf(example.replace('npm run admin --', '')));
        expect('command' in parsed && parsed.command).toBe(commands[name]);
      }
    },
  );

  /** Splits as a shell does, as far as the examples need it. */
  function wordsOf(line: string): string[] {
    return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? String(plain));
  }
});

describe('npm run admin', () => {
  const deployed = ['--region', 'us-east-1', '--table', String(process.env.TABLE_NAME)];

  test('works on the table that --region and --table name, and prints JSON for programs', async () => {
    const created = await run(['publisher', 'create', 'child', '--name', 'Child', ...deployed, '--json']);
    const shown = await admin('publisher', 'show', 'child', '--json');

    expect(created).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(created.stdout)).toEqual(JSON.parse(shown.stdout));
  });

  test('exits with 1 and one sentence where a thing cannot be done', async () => {
    const result = await run(['publisher', 'show', 'nobody', ...deployed]);

    expect(result).toEqual({ status: 1, stdout: '', stderr: 'There is no publisher "nobody".\n' });
  });

  test('works on the local table where none is named', async () => {
    const { status, stderr } = await run(['publisher', 'show', 'demo']);

    expect(status).toBe(1);
    expect(stderr).toBe(
      `There is no table node-registry-local in ${process.env.AWS_ENDPOINT_URL_DYNAMODB}.\n`,
    );
  });

  test('says within seconds that the local stack is not running', async () => {
    const started = performance.now();

    const result = await run(['publisher', 'show', 'demo'], {
      AWS_ENDPOINT_URL_DYNAMODB: undefined,
      LOCAL_PORT_OFFSET: '50007',
    });

    const sentence = 'Nothing listens on http://localhost:58007: start it with npm start\n';
    expect(result).toEqual({ status: 1, stdout: '', stderr: sentence });
    expect(performance.now() - started).toBeLessThan(5000);
  });

  function run(args: string[], changes: Record<string, string | undefined> = {}) {
    const env = { ...process.env, NODE_OPTIONS: '', ...changes };
    return new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      const child = execFile(
        process.execPath,
        ['tools/admin/admin.ts', ...args],
        { env },
        (_, stdout, stderr) => resolve({ status: Number(child.exitCode), stdout, stderr }),
      );
    });
  }
});
