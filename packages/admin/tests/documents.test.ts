import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { commands } from '../commands.ts';
import { admin } from '../../../tests/support/admin.ts';

const program = 'npm run admin -- ';
const deployed = / --region \S+ --table \S+| \$on/g;
const bucket = / --bucket \S+/g;

const documents = [
  'README.md',
  'infra/template/archives.yml',
  ...(await readdir('docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
];
const texts = await Promise.all(documents.map((path) => readFile(path, 'utf8')));
const mentions = texts.flatMap((text) => mentionsIn(text));

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

const isWhole = (line: string) => !(line in commands) && !line.endsWith('--bucket');

test('names only commands of npm run admin that exist', () => {
  const unknown = mentions.filter((line) => {
    const [noun = '', verb = ''] = line.split(' ');
    if (!/^\w/.test(verb) && commands[`${noun} run`]?.isDefault) return false;
    return noun !== '--help' && !(`${noun} ${verb}` in commands) && !verb.startsWith('--');
  });

  expect(mentions.length).toBeGreaterThan(25);
  expect(unknown).toEqual([]);
});

test('shows only command lines that npm run admin accepts', async () => {
  const lines = mentions
    .filter(isWhole)
    .map((line) =>
      line
        .replaceAll(deployed, '')
        .replaceAll('<date>', '2026-11-20')
        .replaceAll(/<[^>]*>/g, 'x'),
    )
    .map((line) => line.replaceAll(bucket, ` --bucket ${process.env.BUCKET_NAME}`));
  const script = lines.map((line) => `printf '%s\\n' ${line}; echo`).join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script]);
  const shown = stdout.trim().split('\n\n');
  const results: string[] = [];
  for (const words of shown) {
    const { status, stderr } = await admin(...words.split('\n'));
    if (status === 2) results.push(`${words.replaceAll('\n', ' ')}: ${stderr}`);
  }

  expect(shown).toHaveLength(lines.length);
  expect(results).toEqual([]);
});
