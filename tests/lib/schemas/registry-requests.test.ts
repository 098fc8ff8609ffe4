import { expect, test } from '@jest/globals';
import { HostNodeName, NodeId, PublisherId } from '@node-registry/registry-rules/names';
import { trustFields } from '@node-registry/registry-rules/schemas/self-service';
import type * as z from 'zod/mini';
import { issueDetails } from '../../../lib/http/read-request.ts';

/** The issues of a request as `field message`; none if it is accepted. */
function issuesIn(schema: z.ZodMiniType, input: unknown): string[] {
  const { error } = schema.safeParse(input);
  return issueDetails([{ root: 'body', error, input }]).map(({ path, message }) => `${path} ${message}`);
}

const ids = 'must be letters, digits, ".", "_" or "-", beginning and ending with a letter or digit';
const hidden = 'must not contain control, invisible or bidirectional characters';

test.each([
  ['node id', NodeId, ['a', 'A', '7', 'aB', 'a.b_c-d', '0-0', 'a'.repeat(100)], undefined],
  ['node id', NodeId, ['', '-a', 'a-', '.', 'a b', 'a/b', 'é', 'a\n', '_a', 'aé', 'éa', 'a.'], ids],
  ['node id', NodeId, ['a'.repeat(101)], 'must have at most 100 characters'],
  ['publisher id', PublisherId, ['a', 'Kijai', '1038lab', 'a.b_c-d', 'a'.repeat(100)], undefined],
  ['publisher id', PublisherId, ['', '-a', 'a-', 'a\n', ' a'], ids],
  [
    'host node name',
    HostNodeName,
    ['नी\u200dला', '\u{1f469}\u200d\u{1f680}', 'می\u200cخواهم', 'a\u00a0b'],
    undefined,
  ],
  [
    'host node name',
    HostNodeName,
    ['a\u0000b', 'a\n', '\u202egnp.exe', 'a\u200bb', 'a \u200db', '\ufeffa', '\u3164'],
    hidden,
  ],
  ['host node name', HostNodeName, ['a|b (c) / \u{1f3ac}', 'x'.repeat(200)], undefined],
  ['host node name', HostNodeName, [''], 'must have at least 1 character'],
  ['host node name', HostNodeName, ['x'.repeat(201)], 'must have at most 200 characters'],
  ['host node name', HostNodeName, ['a\ud83d'], 'must be valid Unicode'],
  // The form of a long text isn't looked at: that can take the square of its length.
  ['reusable workflow', trustFields.job_workflow, ['.yml@s'.repeat(84)], 'must have at most 500 characters'],
] as const)('reads a %s: %#', (_, schema, names, issue) => {
  for (const name of names)
    expect([name, issuesIn(schema, name)]).toEqual([name, issue ? [`body ${issue}`] : []]);
});
