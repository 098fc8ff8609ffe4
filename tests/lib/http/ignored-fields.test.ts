import { describe, expect, test } from '@jest/globals';
import * as config from '../../../lib/config.ts';
import { bodySchema } from '../../../lib/contract.ts';
import { ignoredFields } from '../../../lib/http/ignored-fields.ts';
import { loadContracts } from '../../../infra/operations.ts';
import { sampleEvent } from '../../support/invoke.ts';

const contracts = await loadContracts();
const schemaOf = new Map(contracts.map((each) => [each.name, bodySchema(each, config.videoRules)]));
const ignoredBy = (name: string, body: unknown) => {
  const schema = schemaOf.get(name);
  return schema && ignoredFields(schema, body);
};

describe('ignoredFields', () => {
  test.each<[string, object, string | undefined]>([
    ['extendVideo', { seed: 1, style: 'anime', prompt: 'rain' }, '"seed", "style"'],
    [
      'multiframeVideo',
      { image_settings: [{ duration: 1 }, { durations: 2 }] },
      '"image_settings[1].durations"',
    ],
    [
      'publishNodeVersion',
      { node: { stars: 1 }, node_version: { yanked: true } },
      '"node.stars", "node_version.yanked"',
    ],
    ['bulkNodeVersions', { node_versions: [{ node_id: 'a', label: '1' }] }, '"node_versions[0].label"'],
    // The provider's own settings, and free JSON.
    ['relightImage', { advanced_settings: { gamma: 1 } }, undefined],
    ['updateNode', { translations: { fr: { any: 1 } } }, undefined],
    // Clients send a whole resource back.
    [
      'updateNode',
      { downloads: 3, latest_version: { version: '1' }, publisher: {}, created_at: 'x' },
      undefined,
    ],
    ['publishNodeVersion', { node_version: { status: 'x', sha256: 'y', createdAt: 'z' } }, undefined],
    ['updateHostNode', { host_node_name: 'a', conditional: true }, undefined],
    ['textToVideo', { seeds: null, voice: '', extra: [] }, undefined],
    ['textToVideo', { 'naïve"\\\n': 1, constructor: 2 }, '"na%C3%AFve\\"\\\\%0A", "constructor"'],
  ])('of %s names what is unknown in %j', (name, body, expected) => {
    expect(ignoredBy(name, body)).toBe(expected);
  });

  test('names 20 at most, in at most 1,000 characters, and counts the others', () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`x${index}`, 1]));
    const long = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`${index}-`.repeat(60), 1]));

    expect(ignoredBy('updateNode', many)).toMatch(/^(?:"x\d+", ){19}"x19";more=5$/);
    expect(String(ignoredBy('updateNode', long)).length).toBeLessThanOrEqual(1000);
    expect(ignoredBy('updateNode', long)).toMatch(/";more=1[67]$/);
  });

  test.each(contracts.map(({ name }) => name))('is undefined for the sample event of %s', (name) => {
    const file = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    expect(ignoredBy(name, JSON.parse(String(sampleEvent(file).body)))).toBeUndefined();
  });
});
