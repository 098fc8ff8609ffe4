import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { memberIdOf } from '../../lib/caller.ts';
import { handler as bulk } from '../../functions/bulk-node-versions.ts';
import { handler as publish } from '../../functions/publish-node-version.ts';
import { handler as updateHostNode } from '../../functions/update-host-node.ts';
import { handler as updateNode } from '../../functions/update-node.ts';
import { HostNode } from '@node-registry/registry-rules/schemas/host-node';
import { Node } from '@node-registry/registry-rules/schemas/node';
import { NodeVersion } from '@node-registry/registry-rules/schemas/node-version';
import { Publisher } from '@node-registry/registry-rules/schemas/publisher';
import { directory } from '@node-registry/testing/folders';
import { zip } from '@node-registry/testing/zip';
import { admin, adminJson } from '../support/admin.ts';
import { invoke } from '../support/invoke.ts';
import { bearer } from '../support/tokens.ts';
import { finalize, put, uploadAt } from '../support/uploads.ts';

/* Every field that an answer can have is filled by someone: the publisher, an administrator, the archive or the service. */

const path = { publisherId: 'filled', nodeId: 'filled', version: '1.0.0', hostNodeName: 'Load' };
const [owner, operator] = [bearer('olga'), bearer('ada', { admin: true })];
const code = `class N:
    """Loads."""
    RETURN_TYPES = ("IMAGE",)
    RETURN_NAMES = ("out",)
    OUTPUT_IS_LIST = (True,)
    FUNCTION, CATEGORY, DESCRIPTION, DEPRECATED, EXPERIMENTAL = "run", "a", "Loads", True, True
    @classmethod
    def INPUT_TYPES(cls): return {"required": {}}
NODE_CLASS_MAPPINGS = {"Load": N}
NODE_DISPLAY_NAME_MAPPINGS = {"Load": "Load it"}
`;
const shared = {
  ...{ supported_accelerators: ['gpu'], supported_os: ['linux'], tags: ['image'], tags_admin: ['seen'] },
  ...{ supported_host_frontend_version: '>=1', supported_host_version: '>=2' },
};
const place = 'https://a.example/x';
const node = {
  ...{ ...shared, author: 'Olga', banner_url: place, icon: place, repository: place, category: 'image' },
  ...{ license: 'LICENSE', description: 'Loads', name: 'Loader', status_detail: 'Kept', search_ranking: 3 },
  ...{ translations: { de: { name: 'Lader' } }, preempted_host_node_names: ['Load'] },
};
const node_version = {
  ...{ ...shared, version: '1.0.0', changelog: 'First', dependencies: ['a'], deprecated: true },
};

beforeAll(async () => {
  const links = `--website ${place} --logo ${place} --support ${place} --source-code-repo ${place}`;
  for (const line of [
    'publisher create filled --name Filled',
    `publisher update filled --description Makes ${links}`,
    'member add filled olga --role owner --name Olga --email o@a.example',
  ])
    await admin(...line.split(' '));
  const { token } = await adminJson('token', 'create', 'filled', '--label', 'test');
  const body = { personal_access_token: token, node, node_version };
  const published = await invoke(publish, 'publish-node-version', {
    ...{ path, body, headers: { authorization: operator } },
  });
  const upload = uploadAt(published.body.signedUrl);
  await put(upload, zip([{ name: '__init__.py', data: code }]));
  await finalize(upload);
  await admin('node-version', 'extract', 'filled', '1.0.0');
  await admin('node-version', 'flag', 'filled', '1.0.0', '--reason', 'Look twice');
  const file = join(directory, 'numbers.jsonl');
  await writeFile(file, '{"node_id":"filled","repo_stars":1,"rating":4.5,"downloads":2}');
  await admin('node', 'numbers', '--file', file);
});

/** The fields that a schema has, and an answer has not or not filled. */
function missing({ shape }: { shape: object }, answer: Record<string, unknown>): string[] {
  return Object.keys(shape).filter((name) => [undefined, null, ''].includes(answer[name] as undefined));
}

/** Of CI jobs alone, and of archives that could not be read. */
const ofOthers = ['host_node_extract_reason', 'provenance'];

describe('the fields of the contract', () => {
  test('are all filled in a node, its publisher and its latest version', async () => {
    const { body } = await invoke(updateNode, 'update-node', {
      path,
      body: {},
      headers: { authorization: owner },
    });

    expect(body).toMatchObject({ ...node, repo_stars: 1, rating: 4.5, downloads: 2 });
    expect(missing(Node, body)).toEqual([]);
    expect(missing(Publisher, body.publisher)).toEqual([]);
    expect(body.publisher.members).toEqual([
      { id: memberIdOf('olga'), role: 'owner', user: { id: 'olga', name: 'Olga', email: 'o@a.example' } },
    ]);
    expect(missing(NodeVersion, body.latest_version).sort()).toEqual(ofOthers);
  });

  test('are all filled in a version in bulk, except the tags of administrators', async () => {
    const body = { node_versions: [{ node_id: 'filled', version: '1.0.0' }] };
    const answer = await invoke(bulk, 'bulk-node-versions', { body });
    const [{ node_version: shown }] = answer.body.node_versions;

    const { tags_admin: _, ...others } = node_version;
    expect(shown).toMatchObject(others);
    expect(missing(NodeVersion, shown).sort()).toEqual([...ofOthers, 'tags_admin']);
  });

  test('are all filled in a host node by its archive, except the policy', async () => {
    const body = { policy: 'HostNodePolicyLocalOnly' };
    const answer = await invoke(updateHostNode, 'update-host-node', {
      path,
      body,
      headers: { authorization: owner },
    });

    expect(missing(HostNode, answer.body).sort()).toEqual(['conditional', 'left_open']);
  });
});
