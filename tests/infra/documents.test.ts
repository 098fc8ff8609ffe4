import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ofType, type Packaged, packagedStage, properties, upperFirst } from './packaging.ts';

const [deploy, runbook, capacity, spending] = ['deploy', 'runbook', 'capacity', 'spending'].map((name) =>
  readFileSync(`docs/${name}.md`, 'utf8'),
) as [string, string, string, string];

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
    /(?:^|\W)(?:aws [\w-]+ [\w-]+ |npx serverless |npm run (?:deploy|admin) )/.test(line),
  );
}

const deploymentMs = 120_000;

test('commands whose answer is read as JSON ask for JSON, whatever the reader has configured', () => {
  const joined = [...runbook.matchAll(/```bash\n(.*?)```/gs)].map(([, block]) =>
    String(block).replaceAll(/\\\n\s*|\|\n\s*/g, (end) => (end.startsWith('|') ? '| ' : ' ')),
  );
  const read = joined
    .flatMap((block) => block.split('\n'))
    .filter((line) => /aws [^|]*\| jq|received=\$\(aws |aws [^|]*>"\$kept\/\w+\.part"/.test(line));

  expect(read.length).toBeGreaterThanOrEqual(4);
  expect(read.filter((line) => !line.includes('--output json'))).toEqual([]);
});

describe('the runbook that restores the whole table', () => {
  const [, section = ''] = /### The whole table\n(.*?)\n## /s.exec(runbook) ?? [];
  const blocks = [...section.matchAll(/```bash\n(.*?)```/gs)].map(([, text]) => String(text));
  const [before, after] = [blocks.slice(0, 4).join(''), blocks.slice(5).join('')];
  let stage: Packaged;

  beforeAll(async () => {
    stage = await packagedStage('full');
  }, deploymentMs);

  test('is bash', () => {
    expect(blocks).toHaveLength(10);
    for (const block of blocks) execFileSync('bash', ['-n'], { input: block });
  });

  test('deletes the table only in a step of its own, which looks for what the steps before it leave', () => {
    const deleting = blocks.filter((block) => /delete-table|--no-deletion-protection/.test(block));

    expect(deleting).toEqual([blocks[4]]);
    const conditions = [...String(deleting[0]).matchAll(/\$kept\/([\w.]+)/g)].map(([, file]) => String(file));
    expect(conditions).toEqual(['stopped', 'table.json', 'tags.json']);
    for (const file of conditions) expect(before).toContain(`"$kept/${file}"`);
    expect(deleting[0]).toMatch(/^\[ -e .* is_backed_up &&\n/);
    // One command of a chain that is not followed by && would let the next run after a failure.
    expect(
      String(deleting[0])
        .trim()
        .split('\n')
        .slice(0, -1)
        .filter((line) => !line.endsWith('&&')),
    ).toEqual([]);
  });

  test('stops and starts the functions that it finds in the stage, but for those that cannot write', () => {
    const [, left = ''] = /case \$name in (.*)\) continue/.exec(section) ?? [];
    const running = left.split(' | ').map((pattern) => pattern.replace('*-', ''));
    const names = ofType(stage, 'AWS::Lambda::Function').map(([id]) => id.replace('LambdaFunction', ''));

    expect(names).toEqual(expect.arrayContaining(running.map(upperFirst)));
    for (const name of running)
      expect(JSON.stringify(properties(stage, `${upperFirst(name)}Role`))).not.toMatch(
        /dynamodb:(?:Put|Update|Delete|BatchWrite|\*)/,
      );
    expect(before).toContain("ResourceType=='AWS::Lambda::Function'");
    expect(before).toMatch(/put-function-concurrency [^|]*--reserved-concurrent-executions 0 /);
    expect(after).toMatch(/delete-function-concurrency .*\n[^"]*put-function-concurrency/);
    expect(after).toMatch(/--reserved-concurrent-executions "\$reserved"/);
    for (const text of [before, after]) expect(text).toContain('done <"$kept/writers"');
  });

  test('gives the table back each of its settings', () => {
    const settings: Record<string, string> = {
      BillingMode: '--billing-mode-override PAY_PER_REQUEST',
      OnDemandThroughput: '--on-demand-throughput "$ceiling"',
      GlobalSecondaryIndexes: '--global-secondary-index-updates "$indexes"',
      StreamSpecification: 'StreamViewType=KEYS_ONLY',
      TimeToLiveSpecification: 'Enabled=true,AttributeName=ttl',
      PointInTimeRecoverySpecification: 'PointInTimeRecoveryEnabled=true',
      SSESpecification: 'Enabled=true,SSEType=KMS',
      DeletionProtectionEnabled: ' --deletion-protection-enabled',
    };
    const table = properties(stage, 'Table');
    const inBackup = ['TableName', 'AttributeDefinitions', 'KeySchema'];

    expect(Object.keys(table).sort()).toEqual([...inBackup, ...Object.keys(settings)].sort());
    for (const setting of Object.values(settings)) expect(after).toContain(setting);
    // The runbook has these as text.
    expect(table).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
    });
    expect(after).toContain('tag-resource');
  });

  test('copies each setting of what reads the stream', () => {
    const [[, mapping] = []] = ofType(stage, 'AWS::Lambda::EventSourceMapping');
    const { Enabled: _, ...settings } = mapping as object as Record<string, unknown>;

    expect(Object.keys(settings).length).toBeGreaterThan(6);
    for (const name of Object.keys(settings)) expect(blocks[7]).toMatch(new RegExp(`\\b${name}\\b`));
  });
});

describe('the documents for operators', () => {
  test.each([deploy, runbook, spending].flatMap(commands))('name the region in: %s', (command) => {
    expect(command).toMatch(/--region us-east-1|\$on\b|\$table\b|--stage prod --region/);
  });

  test('wait after each command that takes a table out of use', () => {
    const text = deploy + runbook;
    const steps = [...text.matchAll(/aws dynamodb (restore-table-[\w-]+|update-table|delete-table)\b/g)];

    expect(steps.length).toBeGreaterThanOrEqual(11);
    for (const { index, 1: step } of steps) {
      const next = /(?:wait_for|dynamodb wait) (table-[\w-]+)|aws dynamodb (?!wait)[\w-]+/.exec(
        text.slice(index + 10),
      );
      expect([step, next?.[1]]).toEqual([
        step,
        step === 'delete-table' ? 'table-not-exists' : 'table-exists',
      ]);
    }
  });

  const [, prices = ''] = /\n\| Per million calls (.*?)\n\n/s.exec(capacity) ?? [];

  test.each(
    [...prices.matchAll(/^\| ([^|(]+)(.*)$/gm)].slice(1).map(([, name, cells]) => [name, String(cells)]),
  )('add up the cost of a million calls: %s', (_, cells = '') => {
    const [sum = 0, ...parts] = [...cells.matchAll(/\d+\.\d\d/g)].map(([price]) => Number(price)).reverse();

    expect(parts.reduce((total, price) => total + price, 0)).toBeCloseTo(sum, 1);
  });

  test('count the alarms and the resources of a stage', async () => {
    const [plain, full] = await Promise.all([packagedStage('default'), packagedStage('full')]);
    const alarms = ofType(plain, 'AWS::CloudWatch::Alarm').map(([, alarm]) => alarm);
    const metrics = alarms.flatMap(({ Metrics = [{ MetricStat: {} }] }) =>
      Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat),
    );
    const roundedUp = ({ template }: Packaged) => 5 * Math.ceil(Object.keys(template.Resources).length / 5);

    expect(capacity).toContain(`${alarms.length} alarms on ${metrics.length} metrics`);
    expect(capacity).toContain(
      `${metrics.length} alarm metrics at 0.10 (${(metrics.length / 10).toFixed(2)})`,
    );
    expect(capacity).toContain(
      `about ${roundedUp(plain)}, with \`rollout\` and all other parts ${roundedUp(full)}`,
    );
  }, 120_000);

  test('have commands in them', () => {
    expect(commands(deploy + runbook).length).toBeGreaterThan(25);
    expect(commands(spending).length).toBeGreaterThan(10);
  });

  test('give a command for each thing to verify on AWS', () => {
    const [, section = ''] = deploy.split('## Verify the stage\n');
    const items =
      section
        .split('\n## ')[0]
        ?.split(/^\d+\. /m)
        .slice(1) ?? [];

    expect(items.length).toBeGreaterThanOrEqual(14);
    for (const item of items) expect(item).toMatch(/^\*\*[^*]+\.\*\* [\s\S]*`[\s\S]*(?:curl|aws) [\s\S]*`/);
  });
});
