import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { dynamodb, tableName } from '../../lib/store/dynamodb.ts';
import { localAddress, ports } from '../../tools/local/addresses.ts';
import { admin, adminJson } from '../support/admin.ts';
import { serve } from '../support/serve.ts';
import { setVariables } from '../support/variables.ts';
import { beforeNext, intercept } from '../support/intercept.ts';
import { addNode, addPublisher, addVersion } from '../support/registry.ts';
import { runProgram } from '@node-registry/testing/shell';
import { commands } from '../../tools/admin/commands.ts';
import { sentenceFor } from '../../tools/admin/command.ts';
import { runCommandLine } from '../../tools/admin/program.ts';
import { upgradeTable } from '../../tools/admin/upgrade.ts';
import { localEnvironment } from '../../tools/local/addresses.ts';
import { chooseTarget, describeTarget } from '../../tools/admin/target.ts';

/** The words of command lines, as a shell passes them on. */
async function wordsOf(lines: readonly string[]): Promise<string[][]> {
  const script = lines.map((line) => `printf '%s\\n' ${line}; echo`).join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script]);
  return stdout
    .trim()
    .split('\n\n')
    .map((words) => untilADay(words.split('\n')));
}

/** Usage until today would take longer to read with each day that passes. */
function untilADay(words: string[]): string[] {
  const from = words[0] === 'usage' && !words.includes('--to') ? words.indexOf('--from') : -1;
  return from < 0 ? words : [...words, '--to', String(words[from + 1])];
}

describe('a command line that is not understood', () => {
  const see = (command: string) => `See npm run admin -- ${command}--help`;

  test.each([
    ['tokn create demo', `Unknown command 'tokn'. Did you mean token? ${see('')}`],
    [
      'node show a --region here',
      `The options --region and --table go together: both, or neither for the local stack. ${see('node show ')}`,
    ],
    ['node show ', `Value '' is invalid for argument 'node'. It needs a value. ${see('node show ')}`],
    ['token create demo --label x --days 0', '--days takes a whole number from 1 to 3650.'],
    ['token create demo --label x --days 3651', '--days takes a whole number from 1 to 3650.'],
    ['member add demo x --role boss', 'The role "boss" is not valid: use owner or member.'],
    ['member add demo x --email nowhere', '"nowhere" is not an e-mail address.'],
  ])('exits with 2 and one sentence: %s', async (line, sentence) => {
    const result = await admin(...line.split(' '));

    expect(result).toEqual({ status: 2, stdout: '', stderr: `${sentence}\n` });
  });

  test.each([
    ['node show never --json', 1, 'node_not_found'],
    ['publisher rename never Not/An/Id --json', 2, 'usage'],
    ['work show a/b --json', 1, 'rejected'],
    ['node shwo --json', 2, 'usage'],
    ['usage --csv --json', 2, 'usage'],
    ['--json', 2, 'usage'],
  ])(
    'with --json, one object says why it failed, in the sentence for people: %s',
    async (line, status, error) => {
      const failed = await admin(...line.split(' '));
      const message = failed.stderr.trimEnd();

      expect([failed.status, JSON.parse(failed.stdout)]).toEqual([
        status,
        { status: 'failed', error, message },
      ]);
    },
  );

  test.each(['token', '--json', 'token --json'])('exits with 2 and shows the commands: %s', async (line) => {
    const { status, stderr } = await admin(...line.split(' '));

    expect(status).toBe(2);
    expect(stderr).toContain('token create <publisher> --label <TEXT>');
  });
});

test.each([
  ['no answer', undefined],
  ['a timeout', AbortSignal.abort()],
])('names the bucket in one sentence after %s', async (_, abortSignal) => {
  const client = new S3Client({ endpoint: 'http://127.0.0.1:1', maxAttempts: 1 });
  const sent = client.send(new HeadBucketCommand({ Bucket: 'x' }), { ...(abortSignal && { abortSignal }) });

  expect(sentenceFor(await sent.catch((error) => error))).toBe(
    `The bucket ${process.env.BUCKET_NAME} cannot be reached: check the region (us-east-1) and the network, and try again.`,
  );
});

test.each([
  ['UnrecognizedClientException', 'The token is invalid', 'Sign in again.'],
  ['AccessDeniedException', 'Ann is not authorized', 'The output AdministrationRole names a role that may'],
  ['Error', 'getaddrinfo ENOTFOUND sts.eu-wset-1.amazonaws.com', 'Check how the region is spelled'],
  ['CredentialsProviderError', 'Profile a requires multi-factor authentication, but', 'Run eval "$(aws conf'],
])('says what AWS said, and what to do, after %s', (name, message, remedy) => {
  const error = new DynamoDBServiceException({ name, message, $fault: 'client', $metadata: {} });

  expect(sentenceFor(error)).toContain(`${message}. ${remedy}`);
});

test('asks before each command that stops the work of others', () => {
  expect(Object.keys(commands).filter((name) => commands[name]?.impact)).toEqual([
    ...['publisher rename', 'publisher merge', 'publisher ban', 'person erase', 'token revoke'],
    ...['trust remove', 'node transfer', 'node ban', 'node-version ban', 'caller block'],
  ]);
});

describe('--help', () => {
  test('lists every command with what it needs, as does an empty command line', async () => {
    const { status, stdout } = await admin('--help');

    expect(status).toBe(0);
    for (const [name, { parameters, areOptional, summary }] of Object.entries(commands)) {
      const shown = parameters.map((parameter) => (areOptional ? `\\[${parameter}\\]` : `<${parameter}>`));
      const words = [name, ...shown].join(' ');
      expect(stdout).toMatch(new RegExp(`^  ${words} .*${summary}`, 'm'));
    }
    expect(await admin()).toEqual({ status, stdout, stderr: '' });
    // Of a noun that is a command itself.
    expect((await admin('usage', '--help')).stdout).toContain('--csv');
  });

  test('shows examples that a shell passes on as they are meant, the command line accepts, and write only if they may, with history', async () => {
    // What the examples name, so that they do not end at something that does not exist, in a table of this release.
    await upgradeTable({ client: dynamodb, name: tableName() });
    await addPublisher('acme', { olga: 'owner' });
    await addNode('acme', 'demo-node');
    for (const version of ['1.0.0', '1.2.0']) await addVersion('acme', 'demo-node', version);
    const withoutOne = Object.entries(commands).filter(([name, { isDefault, examples }]) => {
      const own = isDefault ? name.split(' ', 1)[0] : name;
      return !examples.some((line) => `${line} `.startsWith(`${own} `));
    });
    expect({ withoutAnExample: withoutOne.map(([name]) => name) }).toEqual({ withoutAnExample: [] });
    const examplesOf = (isReader: boolean) =>
      Object.values(commands).flatMap(({ readsOnly = false, examples }) =>
        readsOnly === isReader ? examples : [],
      );
    const readers = examplesOf(true);
    const actionOf = (line: string) => /^\S+ \S+/.exec(line)?.[0];
    // After these, the ID that the others name is another one.
    const isMove = (line: string) => Number(/ (?:rename|merge) /.test(line));
    const lines = [...readers, ...examplesOf(false).sort((a, b) => isMove(a) - isMove(b))];
    const shown = await wordsOf(lines);
    const [wrong, writing, recorded] = [new Set<string>(), new Set<string>(), new Set<string>()];
    let line = '';
    intercept(dynamodb, ({ command, input, send }) => {
      const text = JSON.stringify(input);
      // What an earlier line decided may still be owed, and is followed without an entry.
      const isOwed = command === 'UpdateItemCommand' && text.includes('"pending_since"');
      const isWrite = !/^(?:Get|BatchGet|TransactGet|Query|Scan)/.test(command) && !isOwed;
      if (isWrite) writing.add(line);
      if (isWrite && text.includes('HISTORY#') && text.includes(`"${actionOf(line)}"`)) recorded.add(line);
      return send();
    });
    for (const [at, words] of shown.entries()) {
      line = String(lines[at]);
      if ((await admin(...words)).status === 2) wrong.add(line);
    }

    expect(shown.flat()).toContain('auth0|1234');
    expect(shown).toHaveLength(lines.length);
    expect([...wrong, ...readers.filter((reader) => writing.has(reader))]).toEqual([]);
    const unrecorded = [...writing].filter((each) => !recorded.has(each));
    expect({ writesWithoutItsHistory: unrecorded }).toEqual({ writesWithoutItsHistory: [] });
    expect(recorded.size).toBeGreaterThan(20);
  });
});

describe('the target of a command', () => {
  test('stays the same in a command that another one suggests', async () => {
    const on = ['--region', 'eu-west-1', '--table', 'node-registry-prod'];
    const deployed = await admin('publisher', 'create', 'next-steps', '--name', 'Next', ...on);
    const local = await admin('publisher', 'create', 'next-steps-here', '--name', 'Next');

    expect(deployed.stdout).toContain(
      `npm run admin -- member add next-steps <user> --role owner ${on.join(' ')}\n`,
    );
    expect(local.stdout).toMatch(/npm run admin -- member add next-steps-here <user> --role owner\n$/);
  });

  test('comes from one place in every suggested command', () => {
    const commands = globSync('tools/admin/{commands,registry,spend}/**/*.ts');

    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((file) => readFileSync(file, 'utf8').includes('npm run admin'))).toEqual([]);
  });

  const local = localAddress(ports.dynamodb);

  test.each([
    ['node-registry-prod in eu-west-1', undefined, 'node-registry-prod'],
    [`the local stack, node-registry-local at ${local}`, local, 'node-registry-local'],
    [`node-registry-prod at ${local}`, local, 'node-registry-prod'],
    ['node-registry-local at http://localhost:1', 'http://localhost:1', 'node-registry-local'],
  ])('describes the target as %s', (description, address, TABLE_NAME) => {
    setVariables({ AWS_REGION: 'eu-west-1', TABLE_NAME, AWS_ENDPOINT_URL_DYNAMODB: address });

    expect(describeTarget()).toBe(description);
  });

  test('is the local stack, with its site, without --region and --table, whatever the shell is signed in to', () => {
    const before = { ...process.env };
    const ours = {
      AWS_ENDPOINT_URL_DYNAMODB: 'http://localhost:1',
      AWS_ENDPOINT_URL_S3: 'http://localhost:2',
    };
    Object.assign(process.env, { AWS_PROFILE: 'work', AWS_SESSION_TOKEN: 'a session', ...ours });
    chooseTarget(['node', 'show', 'x']);
    const chosen = { ...process.env };
    Object.assign(process.env, before);

    expect([chosen.AWS_PROFILE, chosen.AWS_SESSION_TOKEN]).toEqual([undefined, undefined]);
    const { SITE_URL, SITE_LINKS } = localEnvironment;
    expect(chosen).toMatchObject({ ...ours, SITE_URL, SITE_LINKS, TABLE_NAME: 'node-registry-local' });
  });

  test('prints the target before a change, and none if nothing can change', async () => {
    let printed = '';
    let printedFirst = '';
    const print = { write: (text: string) => (printed += text) };
    beforeNext(dynamodb, /^TransactWriteItems/, async () => (printedFirst = printed));
    const line = ['publisher', 'create', 'target', '--name', 'Target'];
    const done = await runCommandLine(line, undefined, { stdout: print, stderr: print });
    const read = await admin('publisher', 'show', 'target');

    expect([done.status, printedFirst]).toEqual([0, `Target: ${describeTarget()}\n`]);
    expect(printedFirst).toContain(String(process.env.TABLE_NAME));
    expect(read).toMatchObject({ status: 0, stderr: '' });
  });
});

/** What STS answers; undefined for a denial. */
let identity: string | undefined;
const expired = '<Root><Error><Code>ExpiredToken</Code><Message>It is expired</Message></Error></Root>';
const identities = await serve((_, response) => {
  const result = `<GetCallerIdentityResult><Arn>${identity}</Arn></GetCallerIdentityResult>`;
  response
    .writeHead(identity ? 200 : 403, { 'content-type': 'text/xml' })
    .end(identity ? `<GetCallerIdentityResponse>${result}</GetCallerIdentityResponse>` : expired);
});

describe('npm run admin', () => {
  const deployed = ['--region', 'us-east-1', '--table', String(process.env.TABLE_NAME)];

  test('works on the table that --region and --table name, and prints JSON for programs', async () => {
    const created = await run(['publisher', 'create', 'child', '--name', 'Child', ...deployed, '--json']);
    const shown = await admin('publisher', 'show', 'child', '--json');

    expect(created).toMatchObject({ code: 0, stderr: `Target: ${describeTarget()}\n` });
    expect(JSON.parse(created.stdout)).toEqual(JSON.parse(shown.stdout));
  });

  test('names in the history who AWS says calls, and changes nothing if it does not say', async () => {
    const sts = { AWS_ENDPOINT_URL_STS: identities.url, ADMIN_ACTOR: 'ceo' };
    const create = (id: string) => run(['publisher', 'create', id, '--name', 'Named', ...deployed], sts);
    identity = 'arn:aws:sts::123456789012:assumed-role/administrators/ann';
    await create('named');
    identity = undefined;
    const rejected = await create('unnamed');

    const [{ actor }] = await adminJson('history', 'publisher', 'named');
    expect(actor).toBe('arn:aws:sts::123456789012:assumed-role/administrators/ann (ceo)');
    expect([rejected.code, rejected.stderr]).toEqual([
      1,
      expect.stringMatching(/\nNothing was changed: AWS .*: It is expired\. Sign in again\.\n$/),
    ]);
    expect((await admin('publisher', 'show', 'unnamed')).status).toBe(1);
  });

  test.each([
    [{}, `There is no table node-registry-local in ${process.env.AWS_ENDPOINT_URL_DYNAMODB}.`],
    [
      { AWS_ENDPOINT_URL_DYNAMODB: undefined, LOCAL_PORT_OFFSET: '50007' },
      'Nothing listens on http://localhost:58007: start it with npm start',
    ],
  ])(
    'works on the local stack if no table is named, and exits with 1 and one sentence: %j',
    async (...row) => {
      const [environment, sentence] = row;
      const result = await run(['publisher', 'show', 'demo'], environment);

      expect(result).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` });
    },
  );

  test('exits with 2 if a table has no name', async () => {
    expect(await run(['node', 'list', '--table'])).toMatchObject({ code: 2 });
  });

  function run(args: string[], env: NodeJS.ProcessEnv = {}) {
    return runProgram(process.execPath, ['tools/admin/admin.js', ...args], { env });
  }
});

const program = 'npm run admin -- ';
const deployed = / --region \S+ --table \S+| \$on/g;

const documents = globSync(['README.md', 'infra/template/archives.yml', 'docs/*.md']);
const mentions = documents.flatMap((path) => mentionsIn(readFileSync(path, 'utf8')));

/** Command lines in blocks of code and between backticks, which may go on in the next line of the text. */
function mentionsIn(text: string): string[] {
  const blocks = [...text.matchAll(/```bash\n(.*?)```/gs)].flatMap(([, block = '']) => block.split('\n'));
  const inline = text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`]+)`/g);
  const spans = [...inline].map(([, span = '']) => span.replaceAll(/\s+/g, ' '));
  const lines = [...blocks, ...spans, ...text.split('\n').filter((line) => line.includes('Description:'))];
  return lines
    .map((line) => line.replace(/ +# .*/, '').trim())
    .filter((line) => line.includes(program) || line.endsWith(' $on'))
    .map((line) => line.slice(line.includes(program) ? line.indexOf(program) + program.length : 0));
}

test('shows only command lines that npm run admin accepts in documents', async () => {
  // A command's name alone has no parameters.
  const lines = mentions
    .filter((line) => !(line in commands))
    .map((line) =>
      line
        .replaceAll(deployed, '')
        .replaceAll('<date>', '2026-11-20')
        .replaceAll(/<[^>]*>/g, 'x'),
    );
  const shown = await wordsOf([...new Set(lines)]);
  const results: string[] = [];
  for (const words of shown) {
    const { status, stderr } = await admin(...words);
    if (status === 2) results.push(`${words.join(' ')}: ${stderr}`);
  }

  expect(shown).toHaveLength(new Set(lines).size);
  expect(shown.length).toBeGreaterThan(25);
  expect(results).toEqual([]);
});
