import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Sql, sql } from '../sql.ts';
import {
  boolean,
  digits,
  digitsList,
  hex,
  hexOrNull,
  int4,
  int8,
  longHex,
  moment,
  type PackedTexts,
  packedRows,
  preciseMoment,
  type RowOf,
  readPackedPage,
  text,
  textOrNull,
} from './packed-rows.ts';

const ROWS = packedRows({
  block: int8('block'),
  log: int4('log'),
  token: hex('token', 20),
  payment: hexOrNull('payment', 20),
  amount: digits('amount'),
  ids: digitsList('ids'),
  time: moment('time'),
  verified: boolean('verified'),
  name: text('name'),
  logo: textOrNull('logo'),
});
type Row = RowOf<typeof ROWS>;

const bytes = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((each) => `0x${Buffer.from(each).toString('hex')}`);
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
/** Postgres stores no zero bytes and no unpaired surrogates. */
const anyText = fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll('\0', ''));
const anyRow: fc.Arbitrary<Row> = fc.record({
  block: fc.maxSafeInteger(),
  log: fc.integer(),
  token: bytes,
  payment: fc.option(bytes),
  amount,
  ids: fc.array(amount, { maxLength: 3 }),
  time: fc
    .date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  verified: fc.boolean(),
  name: anyText,
  logo: fc.option(anyText),
});

const scratch = scratchOfFile();

const relationOf = (given: readonly Row[]): Sql => sql`(
  SELECT (row->>'block')::bigint AS block, (row->>'log')::integer AS log, decode(substr(row->>'token', 3), 'hex') AS token,
    decode(substr(row->>'payment', 3), 'hex') AS payment, (row->>'amount')::numeric AS amount,
    ARRAY(SELECT jsonb_array_elements_text(row->'ids')::numeric) AS ids, (row->>'time')::timestamptz AS time, (row->>'verified')::boolean AS verified,
    row->>'name' AS name, row->>'logo' AS logo
  FROM jsonb_array_elements(${JSON.stringify(given)}::jsonb) WITH ORDINALITY AS given(row, place) ORDER BY place) AS page`;

/** Returns the rows after a round trip through Postgres, and the number of statements. */
async function packAndRead(given: readonly Row[]): Promise<{ rows: readonly Row[]; statements: number }> {
  let statements = 0;
  const { rows } = await readPackedPage<Row, PackedTexts>(scratch.database, ROWS, (select) => {
    statements += 1;
    return sql`SELECT ${select} FROM ${relationOf(given)}`;
  });
  return { rows, statements };
}

describe('packed rows', () => {
  test('are read as they were, in their order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 20 }), async (rows) => {
        expect((await packAndRead(rows)).rows).toEqual(rows);
      }),
      { numRuns: 100 },
    );
  });

  test('of a relation without rows are none', async () => {
    expect(await packAndRead([])).toEqual({ rows: [], statements: 1 });
  });

  test.each(['\x1e', '\x1f', '\x1f\x1e', '+'])('with %j in a name are read all the same', async (name) => {
    const [row] = fc.sample(anyRow, { seed: 7, numRuns: 1 });
    const rows = [row, { ...row, name, logo: null }, { ...row, name: '', logo: name }] as Row[];
    expect(await packAndRead(rows)).toEqual({ rows, statements: name === '+' ? 1 : 2 });
  });

  test('may have columns of fixed width alone', async () => {
    const numbers = packedRows({ number: int4('number') });
    const [packed] = await scratch.database.query<PackedTexts>(
      sql`SELECT ${numbers.select} FROM generate_series(1, 3) AS page(number)`,
    );
    expect(packed && numbers.read(packed)).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
  });

  test('with a value of another length than its kind are refused, not read askew', async () => {
    const [packed] = await scratch.database.query<PackedTexts>(
      sql`SELECT ${ROWS.select} FROM (VALUES
         (1::bigint, 1, decode(repeat('ab', 20), 'hex'), NULL::bytea, 1::numeric, ARRAY[]::numeric[], now(), true, '', ''),
         (2, 1, decode(repeat('ab', 19), 'hex'), NULL, 1, ARRAY[]::numeric[], now(), true, '', '')
       ) AS page(block, log, token, payment, amount, ids, time, verified, name, logo)`,
    );
    expect(() => packed && ROWS.read(packed)).toThrowError(expect.objectContaining({ code: 'PACKED_ROWS' }));
  });

  test.each([
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999999Z'],
    ['2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z', '2000-01-01T00:00:00.000000Z'],
    ['2023-02-07T08:54:55.0206Z', '2023-02-07T08:54:55.020Z', '2023-02-07T08:54:55.020600Z'],
  ])('show the moment %s in UTC, whatever the zone of the session', async (given, milliseconds, microseconds) => {
    const moments = packedRows({ milliseconds: moment('time'), microseconds: preciseMoment('time') });
    const [packed] = await scratch.database.query<PackedTexts>(
      sql`SELECT ${moments.select} FROM (SELECT ${given}::timestamptz AS time, set_config('TimeZone', 'Asia/Kolkata', true)) AS page`,
    );
    expect(packed && moments.read(packed)).toEqual([{ milliseconds, microseconds }]);
  });
});

test('rows with too many bytes for one result are refused before they are packed', async () => {
  const packed = packedRows({ row: int4('row'), data: longHex('data') });
  const read = (rows: number) =>
    readPackedPage(
      scratch.database,
      packed,
      (select) => sql`WITH page AS MATERIALIZED (
          SELECT row, decode(repeat('ab', 1000000), 'hex') AS data FROM generate_series(1, ${rows}::int) AS row)
        SELECT ${select} FROM ${packed.fitting('page')}`,
    );
  expect((await read(0)).rows).toEqual([]);
  expect((await read(2)).rows.map(({ row, data }) => [row, data.length])).toEqual([
    [1, 2_000_000],
    [2, 2_000_000],
  ]);
  await expect(read(17)).rejects.toMatchObject({ code: '54000' });
});
