import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const page = readFileSync('docs/operations.md', 'utf8');
const spending = readFileSync('docs/spending.md', 'utf8');

/** Commands in code blocks, in code spans, and in the list of what only AWS can show; each on one line. */
function commands(text: string): string[] {
  const blocks = [...text.matchAll(/```bash\n(.*?)```/gs)].map(([, text]) =>
    String(text).replaceAll(/\\\n\s*/g, ' '),
  );
  const spans = [...text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`]+)`/g)].map(([, text]) =>
    String(text).replaceAll(/\s+/g, ' '),
  );
  const lines = blocks.flatMap((block) => block.split('\n')).map((line) => line.trim());
  return [...lines, ...spans].filter((line) =>
    /(?:^|\W)(?:aws [\w-]+ [\w-]+ |npx serverless |npm run (?:deploy|admin) )/.test(line),
  );
}

describe('the pages of operations and spending', () => {
  test.each([...commands(page), ...commands(spending)])('names the region in: %s', (command) => {
    expect(command).toMatch(/--region us-east-1|\$on\b|\$table\b|--stage prod --region/);
  });

  test('has commands in it', () => {
    expect(commands(page).length).toBeGreaterThan(25);
    expect(commands(spending).length).toBeGreaterThan(10);
  });

  test('links to headings that it has', () => {
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      String(heading)
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);

    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((anchor) => !headings.includes(String(anchor)))).toEqual([]);
  });

  test('says for each thing that only AWS can show which command settles it', () => {
    const [, section = ''] = page.split('## What only AWS can show\n');
    const items =
      section
        .split('\n## ')[0]
        ?.split(/^\d+\. /m)
        .slice(1) ?? [];

    expect(items.length).toBeGreaterThanOrEqual(14);
    for (const item of items) expect(item).toMatch(/^\*\*[^*]+\.\*\* [\s\S]*`[\s\S]*(?:curl|aws) [\s\S]*`/);
  });
});
