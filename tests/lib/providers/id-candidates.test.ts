import { describe, expect, test } from '@jest/globals';
import { idCandidates } from '../../../lib/providers/id-candidates.ts';

describe('what may be the id of a task', () => {
  test.each([
    ['a field id', { id: '77' }, {}, { 'body.id': '77' }],
    ['a list', { tasks: [{ taskId: 'a-1' }] }, {}, { 'body.tasks.0.taskId': 'a-1' }],
    ['a nested number', { result: { task: { uuid: 12 } } }, {}, { 'body.result.task.uuid': '12' }],
    ['a header', {}, { 'x-task-id': 'b.2' }, { 'headers.x-task-id': 'b.2' }],
  ])('finds an id in %s', (_, content, headers, expected) => {
    expect(idCandidates(content, headers)).toEqual(expected);
  });

  test.each([
    ['a prompt', { prompt: 'a secret plan' }],
    ['a ticket of ours', { callback_id: 'x'.repeat(43) }],
    ['a name that only ends so', { valid: 'yes', paid: '1' }],
    ['a text with blanks', { id: 'not an id' }],
  ])('finds no id in %s', (_, content) => {
    expect(idCandidates(content, {})).toEqual({});
  });

  test('bounds the candidates, however many there are and however deep they lie', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`n${index}_id`, 'x']));
    const deep = { a: { b: { c: { d: { e: { id: 'x' } } } } } };

    expect(Object.keys(idCandidates(many, {}))).toHaveLength(10);
    expect(idCandidates(deep, {})).toEqual({});
  });
});
