import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { createRowWriter, isBinaryRow, type RowWriter } from './row-writer.ts';

const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(
    sql`CREATE TABLE written (place int8, yes boolean, small int2, medium int4, large int8, amount numeric(78,0), price numeric, bytes bytea, note text,
       at timestamptz, smalls int2[], mediums int4[], larges int8[], amounts numeric(78,0)[])`,
  );
});

const columns = 'place yes small medium large amount price bytes note at smalls mediums larges amounts'.split(
  ' ',
);

interface Row {
  readonly yes: boolean | null;
  readonly small: number;
  readonly medium: number;
  readonly large: bigint;
  readonly amount: bigint;
  readonly price: string;
  readonly bytes: Uint8Array;
  readonly note: string | null;
  readonly at: Date;
  readonly smalls: readonly number[];
  readonly mediums: readonly number[];
  readonly larges: readonly bigint[];
  readonly amounts: readonly bigint[];
}

const small = fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 });
const medium = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const large = fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.bigInt(-100n, 100n));
const amount = fc.oneof(
  fc.bigInt(-(2n ** 256n), 2n ** 256n),
  fc.bigInt(-20_000n, 20_000n),
  fc.constant(10n ** 40n),
);
const digits = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 30 })
  .map((all) => all.join(''));
const rows: fc.Arbitrary<Row> = fc.record({
  yes: fc.option(fc.boolean()),
  small,
  medium,
  large,
  amount,
  price: fc
    .tuple(fc.constantFrom('', '-'), digits, fc.option(digits))
    .map(([sign, whole, fraction]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}`),
  bytes: fc.uint8Array({ maxLength: 6_000 }),
  note: fc.option(fc.string({ unit: 'binary' })),
  at: fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
  smalls: fc.array(small),
  mediums: fc.array(medium),
  larges: fc.array(large),
  amounts: fc.array(amount),
});

function write(writer: RowWriter, place: number, row: Row): string {
  const unlessNull = <Value>(value: Value | null, given: (value: Value) => void): void =>
    value === null ? writer.nothing() : given(value);
  writer.begin(columns.length);
  writer.bigint(place);
  unlessNull(row.yes, (value) => writer.boolean(value));
  writer.smallint(row.small);
  writer.integer(row.medium);
  writer.bigint(String(row.large));
  writer.numeric(String(row.amount));
  writer.numeric(row.price);
  writer.bytea(`0x${Buffer.from(row.bytes).toString('hex')}`);
  unlessNull(row.note, (value) => writer.text(value));
  writer.timestamp(row.at.toISOString());
  writer.array('smallint', row.smalls);
  writer.array('integer', row.mediums);
  writer.array('bigint', row.larges.map(String));
  writer.array('numeric', row.amounts.map(String));
  return writer.end();
}

describe('a row in binary format', () => {
  it('is what Postgres reads of the same values as text, whatever they are and however many rows there are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rows, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        async (given, isTogether) => {
          const writer = createRowWriter();
          const lines = given.map((row, place) => write(writer, place, row));
          expect(lines.every(isBinaryRow)).toBe(true);
          await scratch.database.query(sql`TRUNCATE written`);
          const copied = await scratch.database.transaction(async (transaction) =>
            isTogether
              ? transaction.copyTogether([{ table: 'written', columns, lines }])
              : [await transaction.copy('written', columns, lines)],
          );
          expect(copied).toEqual([given.length]);
          for (const [place, row] of given.entries())
            expect(
              await scratch.database.query(
                sql`SELECT place FROM written WHERE place = ${place} AND yes IS NOT DISTINCT FROM ${row.yes} AND small = ${row.small}::int2 AND medium = ${row.medium}::int4 AND large = ${row.large}::int8
                 AND amount = ${row.amount}::numeric AND price::text = ${row.price}::numeric::text AND bytes = ${Buffer.from(row.bytes)}::bytea AND note IS NOT DISTINCT FROM ${row.note?.replaceAll('\0', '').toWellFormed() ?? null} AND at = ${row.at}::timestamptz
                 AND smalls = ${row.smalls}::int2[] AND mediums = ${row.mediums}::int4[] AND larges = ${row.larges}::int8[] AND amounts = ${row.amounts}::numeric[]`,
              ),
            ).toEqual([{ place }]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it.each(['', '-', '.5', '1e5', '0x10', ' 1', '1 ', 'NaN', '1.2.3', '--1'])(
    'refuses %j for a number',
    (text) => {
      expect(() => createRowWriter().numeric(text)).toThrow(TypeError);
    },
  );

  it.each<[string, (writer: RowWriter) => void]>([
    ['a smallint that is too large', (writer) => writer.smallint(2 ** 15)],
    ['a smallint with a fraction', (writer) => writer.smallint(1.5)],
    ['an integer that is too small', (writer) => writer.integer(-(2 ** 31) - 1)],
    ['an integer that is none', (writer) => writer.integer(Number.NaN)],
    ['a bigint that is too large', (writer) => writer.bigint(String(2n ** 63n))],
    ['a bigint that is too small', (writer) => writer.bigint(String(-(2n ** 63n) - 1n))],
    ['a number that is not exact', (writer) => writer.bigint(2 ** 53)],
    ['no digits for a bigint', (writer) => writer.bigint('')],
    ['another text for a bigint', (writer) => writer.bigint('one')],
    ['a long text for a bigint', (writer) => writer.bigint('one more than a million')],
    ['half a byte', (writer) => writer.bytea('0xabc')],
    ['nothing for bytes', (writer) => writer.bytea('')],
    ['bytes without a prefix', (writer) => writer.bytea('abcd')],
    ['a few bytes with another digit', (writer) => writer.bytea('0xabcg')],
    ['a few bytes with a digit that is none of ASCII', (writer) => writer.bytea('0xabcé')],
    ['many bytes with another digit', (writer) => writer.bytea(`0x${'ab'.repeat(200)}zz`)],
    ['an element that is too large', (writer) => writer.array('smallint', [1, 2 ** 15])],
  ])('refuses %s', (_what, write) => {
    const writer = createRowWriter();
    writer.begin(1);
    expect(() => write(writer)).toThrow(TypeError);
  });

  it('refuses what is no time', () => {
    expect(() => createRowWriter().timestamp('yesterday')).toThrow(TypeError);
  });
});

describe('text and binary', () => {
  it('may stand beside each other in one round trip, each in its own table', async () => {
    await scratch.database.query(sql`CREATE TABLE words (word text, n int4)`);
    const writer = createRowWriter();
    writer.begin(2);
    writer.text('two\tthree');
    writer.integer(2);
    const copied = await scratch.database.transaction((transaction) =>
      transaction.copyTogether(
        [
          { table: 'words', columns: ['word', 'n'], lines: ['one\t1'] },
          { table: 'words', columns: ['word', 'n'], lines: [writer.end()] },
        ],
        { before: [sql`INSERT INTO words VALUES ('zero', 0)`], after: [sql`UPDATE words SET n = n + 10`] },
      ),
    );
    expect(copied).toEqual([1, 1]);
    expect(await scratch.database.query(sql`SELECT word, n FROM words ORDER BY n`)).toEqual([
      { word: 'zero', n: 10 },
      { word: 'one', n: 11 },
      { word: 'two\tthree', n: 12 },
    ]);
  });
});
