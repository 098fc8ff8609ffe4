import type { Statement } from '../support/rights.ts';

/** The bundles of a release, or the rights of its roles, as a later one has them. */
type Bundles = Record<string, string>;

function replaceIn(bundles: Bundles, folder: RegExp, text: RegExp, by: string): Bundles {
  let found = 0;
  const changed = Object.entries(bundles).map(([path, content]) => {
    if (!folder.test(path)) return [path, content];
    const next = content.replaceAll(text, by);
    if (next !== content) found += 1;
    return [path, next];
  });
  if (found === 0) throw new Error(`No bundle in ${folder} has ${text}`);
  return Object.fromEntries(changed);
}

/** A release with one harmless change of each kind: an attribute of every record, a record, and a function. */
export function harmless(bundles: Bundles): Bundles {
  const withAttribute = replaceIn(
    bundles,
    /./,
    /\{\.\.\.(\w+),write_id:(\w+)\}/g,
    '{...$1,write_id:$2,grade:"a"}',
  );
  const grade =
    '{Put:{TableName:process.env.TABLE_NAME,Item:{pk:{S:"NODE#grade"},sk:{S:"GRADE#"+process.hrtime.bigint()}}}}';
  const withRecord = replaceIn(
    withAttribute,
    /^publish-node-version\//,
    /\{TransactItems:\[\.\.\.(\w+)\]/g,
    `{TransactItems:[...$1,${grade}]`,
  );
  const copied = 'bulk-node-versions/';
  const copies = Object.entries(withRecord).flatMap(([path, text]) =>
    path.startsWith(copied) ? [[path.replace(copied, 'grade-nodes/'), text] as const] : [],
  );
  return { ...withRecord, ...Object.fromEntries(copies) };
}

/** A right that the old code doesn't need. */
export const harmlessRight: Statement = {
  Effect: 'Allow',
  Action: 'dynamodb:Query',
  Resource: '*',
  Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['GRADE#*'] } },
};

interface Planted {
  change: string;
  /** The journey that finds it, its first step by the release with the change, and the rule that breaks. */
  journey: string;
  step: number;
  rule: string;
  plant: (bundles: Bundles) => Bundles;
}

const renamed = (text: RegExp, by: string) => (bundles: Bundles) => replaceIn(bundles, /./, text, by);

/** Where it is written and where it is read. */
const both = (write: Planted['plant'], read: Planted['plant']) => (bundles: Bundles) => read(write(bundles));

/** Changes that no release may make at once. */
export const incompatible: Planted[] = [
  {
    change: 'a renamed attribute of a version',
    journey: 'a banned version',
    step: 3,
    rule: 'no download is lost',
    plant: renamed(/\barchive_key\b/g, 'archive_name'),
  },
  {
    change: 'an unknown state of a banned node',
    journey: 'a banned node and publisher',
    step: 5,
    rule: 'publish-node-version answers 403 or 404 or 409',
    plant: renamed(/\bNodeStatusBanned\b/g, 'NodeStatusBlocked'),
  },
  {
    change: 'another hash scope of an Idempotency-Key',
    journey: 'a paid key',
    step: 1,
    rule: 'a key never pays twice',
    plant: renamed(/pk:`IDEMPOTENCY#\$\{(\w+)\}`/g, 'pk:`IDEMPOTENCY#v2`+$1'),
  },
  {
    change: 'another name of the state of a kept answer',
    journey: 'a paid key',
    step: 1,
    rule: 'a kept answer is replayed',
    plant: renamed(/"answered"/g, '"done"'),
  },
  {
    change: 'a changed key of usage records',
    journey: 'a limit',
    step: 2,
    rule: 'limits are exact',
    plant: renamed(/`USAGE#/g, '`LEDGER#'),
  },
  {
    change: 'a renamed shard of due extractions',
    journey: 'uploads whose events were lost',
    step: 3,
    rule: 'no extraction is lost',
    plant: renamed(/"extract-"/g, '"extraction-"'),
  },
  {
    change: 'a changed key of tasks',
    journey: 'a notification',
    step: 1,
    rule: 'receive-notification answers 200',
    plant: renamed(/`TICKET#/g, '`TASK#'),
  },
  {
    change: 'a changed key of host nodes',
    journey: 'edits of people',
    step: 4,
    rule: 'no edit is lost',
    plant: renamed(/`HOST_NODE#/g, '`ENTRY#'),
  },
  {
    change: 'a renamed field of a message about an archive',
    journey: 'uploads whose events were lost',
    step: 5,
    rule: 'no extraction is lost',
    plant: both(
      renamed(/body:\{key:(?=\w+\})/g, 'body:{archive:'),
      renamed(/\{key:(?=\w+,Records:)/g, '{archive:'),
    ),
  },
  {
    change: 'a renamed field of a message about a notification',
    journey: 'a notification',
    step: 3,
    rule: 'no event fails',
    plant: both(
      renamed(/body:\{id:(\w+),attempts:(?=\w+\})/g, 'body:{id:$1,begun:'),
      renamed(/\{id:(\w+),attempts:(?=\w+\}=)/g, '{id:$1,begun:'),
    ),
  },
  {
    change: 'a renamed shard of due notifications',
    journey: 'a notification',
    step: 2,
    rule: 'every notification arrives',
    plant: renamed(/"notify-"/g, '"deliver-"'),
  },
  {
    change: 'a renamed field of a file of the index',
    journey: 'a banned version',
    step: 4,
    rule: 'a ban holds',
    plant: renamed(/\bversions(?=:\w+\(|\.map\()/g, 'releases'),
  },
  {
    change: 'another path of the host nodes in the index',
    journey: 'edits of people',
    step: 4,
    rule: 'the index says what the table says',
    plant: renamed(/\/host-nodes\.json/g, '/host_nodes.json'),
  },
];
