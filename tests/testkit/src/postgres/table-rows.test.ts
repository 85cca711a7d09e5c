import { expect, test } from 'vitest';
import { compareTableRows } from './table-rows.ts';

test('tables with the same rows do not differ, whatever their order', () => {
  expect(compareTableRows({ blocks: ['1 a', '2 b'] }, { blocks: ['2 b', '1 a'] })).toEqual([]);
});

test('a surplus row, a missing row and a missing table are named', () => {
  const stored = { blocks: ['1 a', '2 c'], tokens: ['x'] };
  const expected = { blocks: ['1 a', '2 b'], trades: ['y'] };
  expect(compareTableRows(stored, { ...expected, tokens: ['x'] })).toEqual([
    { table: 'blocks', surplus: ['2 c'], missing: ['2 b'] },
    { table: 'trades', surplus: [], missing: ['y'] },
  ]);
});

test('a row that is stored twice is an error', () => {
  expect(() => compareTableRows({ blocks: ['1 a', '1 a'] }, { blocks: ['1 a'] })).toThrow(
    'blocks has a row twice',
  );
});
