import type { Address } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf, exampleChain, type ScratchDatabase } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  type AddressLabel,
  createLabelBook,
  LABEL_REVISION,
  type LabelBook,
  type LabelBookOptions,
  type LabelEntry,
  labelsOf,
  readLabels,
} from './label-book.ts';

const chain = exampleChain();
const ADDRESSES = Array.from({ length: 5 }, (_, number) => addressOf(0xb00c + number));
const NONE: AddressLabel = { label: null, entity: null, entityLogo: null };

const scratch = scratchOfFile();

beforeEach(() => scratch.database.query(sql`TRUNCATE address_labels, list_revisions`).then(() => undefined));

interface Row {
  readonly address: Address;
  readonly chainId: number;
  readonly source: string;
  readonly label: string | null;
  readonly entity: string | null;
}

/** As an import does: rows and revision in one transaction. */
async function imported(rows: readonly Row[]): Promise<void> {
  await scratch.database.transaction(async (transaction) => {
    await transaction.query(sql`DELETE FROM address_labels`);
    for (const { address, chainId, source, label, entity } of rows)
      await transaction.query(
        sql`INSERT INTO address_labels (address, chain_id, source, label, entity) VALUES (${addressBytes(address)}, ${chainId}, ${source}, ${label}, ${entity})
         ON CONFLICT DO NOTHING`,
      );
    await transaction.query(
      sql`INSERT INTO list_revisions VALUES ('address_labels', 1) ON CONFLICT (list) DO UPDATE SET revision = list_revisions.revision + 1`,
    );
  });
}

async function openBook(options: Partial<LabelBookOptions> = {}): Promise<LabelBook> {
  const book = createLabelBook(options);
  await vi.waitFor(() => expect(book.isKept(scratch.database)).toBe(true));
  return book;
}

async function revision(): Promise<number> {
  const [row] = await scratch.database.query<{ revision: number }>(sql`SELECT ${LABEL_REVISION} AS revision`);
  return row?.revision ?? Number.NaN;
}

/** @param seen the revision that a page saw; default: the present one */
async function reported(book: LabelBook, seen?: number): Promise<AddressLabel[] | null> {
  const labelOf = book.labelsAt(chain, seen ?? (await revision()));
  return labelOf && ADDRESSES.map(labelOf);
}

async function lookedUp(): Promise<AddressLabel[]> {
  const [row] = await scratch.database.query<{ labels: readonly LabelEntry[] | null }>(
    sql`SELECT ${labelsOf(sql`${ADDRESSES.map(addressBytes)}::bytea[]`, chain.id)} AS labels`,
  );
  return ADDRESSES.map(readLabels(row?.labels ?? null));
}

const row: fc.Arbitrary<Row> = fc.record({
  address: fc.constantFrom(...ADDRESSES),
  chainId: fc.constantFrom(0, chain.id, chain.id + 1),
  source: fc.constantFrom('a', 'B', 'é', '\u{1f600}', '\uffee'),
  label: fc.option(fc.constantFrom('one', 'two', 'three')),
  entity: fc.option(fc.constantFrom('Exchange', 'Bridge')),
});

test('tells of every address what a look-up tells', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (rows) => {
      await imported(rows);
      const seen = await lookedUp();
      const book = await openBook();
      // All labels are cached: nothing is left to look up.
      await scratch.database.query(sql`DELETE FROM address_labels`);
      expect(await reported(book)).toEqual(seen);
    }),
    { numRuns: 40 },
  );
});

const named = (label: string): Row => ({
  address: addressOf(0xb00c),
  chainId: 0,
  source: 'a',
  label,
  entity: null,
});

test('an import shows at once, and is kept from then on', async () => {
  await imported([named('old')]);
  const book = await openBook();
  const before = await revision();
  await imported([named('new')]);
  expect(await reported(book)).toBeNull();
  expect(await revision()).toBe(before + 1);
  await vi.waitFor(async () => {
    expect(book.isKept(scratch.database)).toBe(true);
    expect(await reported(book)).toMatchObject([{ label: 'new' }, NONE, NONE, NONE, NONE]);
  });
});

test('a page that saw an older revision than is kept gets no labels of another one from memory', async () => {
  await imported([named('only')]);
  const book = await openBook();
  expect(await reported(book, 0)).toBeNull();
});

test('more labels than are kept are looked up by every page', async () => {
  await scratch.database.query(
    sql`INSERT INTO address_labels (address, chain_id, source, label)
     SELECT substr(sha256(number::text::bytea), 1, 20), 0, 'many', 'L' FROM generate_series(1, 5001) AS number`,
  );
  let requested = 0;
  const database = {
    ...scratch.database,
    select: ((statement) => {
      requested += 1;
      return scratch.database.select(statement);
    }) satisfies ScratchDatabase['database']['select'],
  };
  const book = createLabelBook({ keptMax: 5_000 });
  expect(book.isKept(database)).toBe(false);
  await vi.waitFor(() => expect(requested).toBe(4));
  for (let turn = 0; turn < 10; turn++) {
    await new Promise(setImmediate);
    expect(book.isKept(database)).toBe(false);
  }
  expect(requested).toBe(4);
  // Several parts, and none twice.
  const roomy = await openBook({ keptMax: 5_001 });
  const [first] = await scratch.database.query<{ address: Address }>(
    sql`SELECT '0x' || encode(address, 'hex') AS address FROM address_labels ORDER BY address_labels.address DESC LIMIT 1`,
  );
  expect(roomy.labelsAt(chain, 0)?.(first?.address ?? addressOf(0)).label).toBe('L');
});

test('rows that were written by hand show after ten minutes', async () => {
  let now = 0;
  const book = await openBook({ clock: { now: () => now } });
  await scratch.database.query(
    sql`INSERT INTO address_labels (address, chain_id, source, label) VALUES (${addressBytes(addressOf(0xb00c))}, 0, 'me', 'mine')`,
  );
  now = 599_999;
  book.isKept(scratch.database);
  expect((await reported(book))?.[0]).toEqual(NONE);
  now = 600_000;
  book.isKept(scratch.database);
  await vi.waitFor(async () => expect((await reported(book))?.[0]).toMatchObject({ label: 'mine' }));
});
