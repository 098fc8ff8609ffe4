import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const [deploy, runbook, spending] = ['deploy', 'runbook', 'spending'].map((name) =>
  readFileSync(`docs/${name}.md`, 'utf8'),
) as [string, string, string];

/** The commands in code blocks and code spans, each on one line. */
function commands(text: string): string[] {
  const blocks = [...text.matchAll(/```bash\n(.*?)```/gs)].map(([, text]) =>
    String(text).replaceAll(/\\\n\s*/g, ' '),
  );
  const spans = [...text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`]+)`/g)].map(([, text]) =>
    String(text).replaceAll(/\s+/g, ' '),
  );
  const lines = blocks.flatMap((block) => block.split('\n')).map((line) => line.trim());
  return [...lines, ...spans].filter((line) =>
    /(?:^|\W)(?:aws (?!configure )[\w-]+ [\w-]+ |npx serverless |npm run (?:deploy|admin|restore) )/.test(
      line,
    ),
  );
}

describe('the documents for operators', () => {
  test.each([deploy, runbook, spending].flatMap(commands))('name the region in: %s', (command) => {
    expect(command).toMatch(/--region us-east-1|\$(?:on|table|stack)\b|--stage prod --region us-east-1/);
  });

  test('wait after each command that takes a table out of use', () => {
    const text = deploy + runbook;
    const steps = [...text.matchAll(/aws dynamodb (restore-table-[\w-]+|update-table|delete-table)\b/g)];

    expect(steps.length).toBeGreaterThanOrEqual(3);
    for (const { index, 1: step } of steps) {
      const next = /dynamodb wait (table-[\w-]+)|aws dynamodb (?!wait)[\w-]+/.exec(text.slice(index + 10));
      expect([step, next?.[1]]).toEqual([
        step,
        step === 'delete-table' ? 'table-not-exists' : 'table-exists',
      ]);
    }
  });
});
