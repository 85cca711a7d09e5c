import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinSql, type KeysetOrder, rawSql, rowsAfter, rowsAfterInPartitions, sql } from './sql.ts';

type Key = readonly [block: number, log: number, token: string];

// Few values, so that keys share some or all of their columns.
const anyKey: fc.Arbitrary<Key> = fc.tuple(
  fc.integer({ min: 0, max: 2 }),
  fc.integer({ min: -1, max: 1 }),
  fc.constantFrom('00', '7f', 'ff'),
);

const scratch = scratchOfFile();

/** Returns the rows after each key, as selected by the condition of either function. */
async function selectAfter(order: KeysetOrder, keys: readonly Key[], isPartitioned: boolean): Promise<Key[][]> {
  const columns = ['row.block', 'row.log', 'row.token'] as const;
  const values = [sql`place.block`, sql`place.log`, sql`place.token`] as const;
  const direction = rawSql(order);
  const conditions = isPartitioned
    ? rowsAfterInPartitions(order, columns, values)
    : [rowsAfter(order, columns, values)];
  const rows = await scratch.database.query<{ after: Key[] | null }>(
    sql`WITH given AS (SELECT (row->>0)::integer AS block, (row->>1)::integer AS log, decode(row->>2, 'hex') AS token, place
       FROM jsonb_array_elements(${JSON.stringify(keys)}::jsonb) WITH ORDINALITY AS given(row, place))
     SELECT (SELECT json_agg(json_build_array(block, log, encode(token, 'hex')) ORDER BY block ${direction}, log ${direction}, token ${direction})
       FROM given AS row WHERE ${joinSql(conditions, ' AND ')}) AS after
     FROM given AS place ORDER BY place`,
  );
  return rows.map(({ after }) => after ?? []);
}

test.each([
  ['ASC', false],
  ['DESC', false],
  ['ASC', true],
  ['DESC', true],
] as const)(
  'rows after a key %s are those behind all of its ties; in partitions: %s',
  async (order, isPartitioned) => {
    const sign = order === 'ASC' ? 1 : -1;
    const compare = (one: Key, other: Key): number =>
      sign * (one[0] - other[0] || one[1] - other[1] || Number(one[2] > other[2]) - Number(one[2] < other[2]));
    await fc.assert(
      fc.asyncProperty(fc.array(anyKey, { minLength: 1, maxLength: 12 }), async (keys) => {
        const sorted = keys.toSorted(compare);
        const expected = keys.map((key) => sorted.filter((row) => compare(row, key) > 0));
        expect(await selectAfter(order, keys, isPartitioned)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  },
);
