import { describe, expect, test } from '@jest/globals';
import { HostNodeName, NodeId, PublisherId } from 'registry-rules/names';
import { issuesIn } from '../../support/issues-in.ts';

describe('a name in a request', () => {
  const idRule = 'must be letters, digits, ".", "_" or "-", beginning and ending with a letter or digit';
  const publisherRule = 'must be 1 to 63 lower-case letters, digits or "-", beginning with a letter';

  test.each([['a'], ['A'], ['7'], ['aB'], ['a.b_c-d'], ['0-0'], ['a'.repeat(100)]])(
    'accepts the node id %j',
    (id) => {
      expect(issuesIn(NodeId, id)).toEqual([]);
    },
  );

  test.each([[''], ['-a'], ['a-'], ['.'], ['a b'], ['a/b'], ['é'], ['a\n'], ['_a'], ['aé'], ['éa'], ['a.']])(
    'rejects the node id %j',
    (id) => {
      expect(issuesIn(NodeId, id)).toEqual([`body ${idRule}`]);
    },
  );

  test('rejects a node id of more than 100 characters', () => {
    expect(issuesIn(NodeId, 'a'.repeat(101))).toEqual(['body must have at most 100 characters']);
  });

  test.each([['a'], ['a1-'], [`a${'-'.repeat(62)}`]])('accepts the publisher id %j', (id) => {
    expect(issuesIn(PublisherId, id)).toEqual([]);
  });

  test.each([[''], ['1a'], ['-a'], ['A'], ['aB'], ['a_b'], ['a\n'], [' a'], [`a${'b'.repeat(63)}`]])(
    'rejects the publisher id %j',
    (id) => {
      expect(issuesIn(PublisherId, id)).toEqual([`body ${publisherRule}`]);
    },
  );

  test('accepts any host node name of 1 to 200 characters', () => {
    expect(issuesIn(HostNodeName, 'a|b (c) / \u{1f3ac}')).toEqual([]);
    expect(issuesIn(HostNodeName, 'x'.repeat(200))).toEqual([]);
    expect(issuesIn(HostNodeName, '')).toEqual(['body must have at least 1 character']);
    expect(issuesIn(HostNodeName, 'x'.repeat(201))).toEqual(['body must have at most 200 characters']);
    expect(issuesIn(HostNodeName, 'a\ud83d')).toEqual(['body must be valid Unicode']);
  });
});
