import { expect, test } from 'vitest';
import type { ObservedRows } from '../../packages/doors/db/src/testing/observed-rows.ts';
import { compareRows } from './compare-rows.ts';
import type { DeclaredColumn } from './declared-columns.ts';
import type { DeclaredRows } from './declared-rows.ts';

const PLACE = 'packages/engine/sync/src/checkpoint.ts:27:30';
const OTHER = 'packages/engine/sync/src/checkpoint.ts:81:30';

function declaring(
  columns: Readonly<Record<string, readonly string[]>>,
  change: Partial<DeclaredRows> = {},
): DeclaredRows {
  const declared = Object.entries(columns).map(
    ([name, kinds]): DeclaredColumn => ({ name, kinds, isOptional: false }),
  );
  return { place: PLACE, awaitPlace: null, type: 'Row', columns: declared, ...change };
}

function returning(
  columns: Readonly<Record<string, readonly string[]>>,
  frames: readonly string[] = [PLACE],
): ObservedRows {
  return { frames, columns: Object.entries(columns).map(([name, kinds]) => ({ name, kinds })) };
}

test.each<[string, readonly string[], readonly string[]]>([
  ['the declared kind', ['string'], ['string']],
  ['a null that is declared', ['null', 'string'], ['string', 'null']],
  ['no row', [], ['string']],
  ['anything for unknown', ['object', 'null'], ['any']],
  ['an array of the declared kind', ['string[]'], ['string[]']],
  ['an array without elements', ['[]'], ['number[]', 'null']],
  ['arrays of arrays', ['string[][]', '[]'], ['string[][]']],
  ['an array of unknown elements', ['object[]'], ['any[]']],
])('%s is no mismatch', (_, kinds, declared) => {
  expect(compareRows([declaring({ one: declared })], [returning({ one: kinds, more: ['number'] })])).toEqual({
    mismatches: [],
    unobserved: [],
  });
});

test.each<[string, readonly string[], readonly string[], string]>([
  ['another kind', ['string'], ['number'], 'the database returns string, Row declares number'],
  ['an undeclared null', ['null', 'number'], ['number'], 'the database returns null, Row declares number'],
  [
    'an array of another kind',
    ['string[]'],
    ['number[]', 'null'],
    'the database returns string[], Row declares number[] | null',
  ],
  ['an array for one value', ['string[]'], ['string'], 'the database returns string[], Row declares string'],
])('%s is a mismatch, told with the place and the column', (_, kinds, declared, sentence) => {
  const { mismatches } = compareRows([declaring({ one: declared })], [returning({ one: kinds })]);
  expect(mismatches).toEqual([`${PLACE} one: ${sentence}`]);
});

test('a declared column that is not returned is a mismatch, unless it is optional', () => {
  const optional = declaring(
    {},
    { place: OTHER, columns: [{ name: 'gone', kinds: ['string'], isOptional: true }] },
  );
  const observed = [returning({ renamed: ['string'] }), returning({ renamed: ['string'] }, [OTHER])];
  expect(compareRows([declaring({ old: ['string'] }), optional], observed).mismatches).toEqual([
    `${PLACE} old: not among the returned columns (renamed), but declared in Row`,
  ]);
});

test('rows belong to the innermost call that is known, or to the await of it', () => {
  const awaited = declaring({ one: ['string'] }, { awaitPlace: 'packages/engine/sync/src/checkpoint.ts:27:17' });
  const outer = declaring({ two: ['string'] }, { place: OTHER });
  const inner = returning({ one: ['string'] }, ['packages/doors/db/src/open-database.ts:96:31', PLACE, OTHER]);
  expect(compareRows([awaited, outer], [inner])).toEqual({ mismatches: [], unobserved: [outer] });
  const late = returning({ one: ['string'] }, ['packages/engine/sync/src/checkpoint.ts:27:17', OTHER]);
  expect(compareRows([awaited, outer], [late])).toEqual({ mismatches: [], unobserved: [outer] });
});
