import { beforeAll, expect, test } from '@jest/globals';
import { adminJson } from '../support/admin.ts';
import { demo } from '../../tools/local/demo.ts';
import { seed } from '../../tools/local/seed.ts';

beforeAll(async () => {
  await seed();
});

test('reads a host node of the older and one of the newer form of the demo pack completely', async () => {
  const version = await adminJson('node-version', 'extract', demo.nodeId, '1.1.0');
  const hostNodes = await adminJson('host-node', 'list', demo.nodeId, '1.1.0');

  expect(version).toMatchObject({ host_node_extract_status: 'success' });
  expect(version).not.toHaveProperty('tags_admin');
  expect(hostNodes).toEqual([
    {
      host_node_name: 'Blend Images (demo)',
      category: 'demo/image',
      description: 'Mixes two images.',
      deprecated: false,
      experimental: true,
      function: 'EXECUTE_NORMALIZED',
      input_types: expect.stringContaining('"share":["FLOAT",{"default":0.5'),
      output_is_list: [false],
      return_names: '["blended"]',
      return_types: '["IMAGE"]',
    },
    {
      host_node_name: demo.hostNodeName,
      category: 'demo/image',
      description: 'Loads an image from the input folder.',
      deprecated: false,
      experimental: false,
      function: 'load',
      input_types: '{"required":{"image":[[],{"image_upload":true}]}}',
      output_is_list: [false, false],
      return_names: '["image","mask"]',
      return_types: '["IMAGE","MASK"]',
    },
  ]);
});

test('keeps what the seed wrote as a person', async () => {
  await adminJson('node-version', 'extract', demo.nodeId, demo.version);

  expect(await adminJson('host-node', 'list', demo.nodeId, demo.version)).toContainEqual(
    expect.objectContaining({
      host_node_name: demo.hostNodeName,
      category: 'demo/image',
      description: 'Loads an image',
      return_types: 'IMAGE',
      policy: 'HostNodePolicyActive',
    }),
  );
});
