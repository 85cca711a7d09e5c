import { createChainRegistry } from '@chainstead/chains';
import type { Address, BlockRange, Hash } from '@chainstead/core';
import { sql, type Transaction } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { deriveAdded, deriveRemoved } from '../projections/derive-changes.ts';
import { registerProjections } from '../projections/projection-record.ts';
import type { DatasetLines } from '../read/decoded-batch.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { addMissing, addRows, removeRows, removeSurplus, stageRows } from './row-changes.ts';

const dataset = marks as Dataset;
const LAST_BLOCK = 8;
const scratch = scratchOfFile();
let nextChainId = 980_001;

beforeAll(async () => {
  await createMarkTables(scratch.database);
});

interface Row {
  readonly account: number;
  readonly block: number;
  readonly logIndex: number;
  readonly amount: number;
}

const keyOf = ({ account, block, logIndex }: Row): string => `${account} ${block} ${logIndex}`;
const textOf = (row: Row): string => `${keyOf(row)} ${row.amount}`;
const someRows = fc.uniqueArray(
  fc.record({
    account: fc.integer({ min: 1, max: 3 }),
    block: fc.integer({ min: 1, max: LAST_BLOCK }),
    logIndex: fc.integer({ min: 0, max: 2 }),
    amount: fc.integer({ min: 1, max: 4 }),
  }),
  { selector: keyOf, maxLength: 12 },
);
const someBlocks = fc
  .tuple(fc.integer({ min: 1, max: LAST_BLOCK }), fc.integer({ min: 1, max: LAST_BLOCK }))
  .map(([a, b]): BlockRange => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const someStep = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), rows: someRows, rowsAtOnce: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('remove' as const), range: someBlocks }),
  fc.record({
    kind: fc.constant('repair' as const),
    range: someBlocks,
    rows: someRows,
    rowsAtOnce: fc.integer({ min: 1, max: 5 }),
  }),
);

function lineOf({ account, block, logIndex, amount }: Row, chainId: number): string {
  return dataset.table.copyLine({
    account: `0x${account.toString(16).padStart(40, '0')}` as Address,
    chainId,
    blockNumber: block,
    logIndex,
    amount: `${amount}`,
    blockHash: `0x${block.toString(16).padStart(64, '0')}` as Hash,
  });
}

/** Splits rows like a batch: at least one part, with at most `rowsAtOnce` rows each. */
function partsOf(rows: readonly Row[], chainId: number, rowsAtOnce: number): DatasetLines[] {
  const parts: DatasetLines[] = [];
  for (let from = 0; from === 0 || from < rows.length; from += rowsAtOnce)
    parts.push({
      dataset,
      lines: rows.slice(from, from + rowsAtOnce).map((row) => lineOf(row, chainId)),
      mentions: [],
    });
  return parts;
}

async function storedRows(chainId: number): Promise<string[]> {
  const rows = await scratch.database.query<{ row: string }>(
    sql`SELECT concat_ws(' ', ('x' || right(encode(account, 'hex'), 8))::bit(32)::int, block_number, log_index, amount) AS row FROM marks WHERE chain_id = ${chainId}`,
  );
  return rows.map(({ row }) => row).sort();
}

const chainOf = (chainId: number) =>
  createChainRegistry({ additional: [{ key: `rows-${chainId}`, id: chainId }] }).get(chainId);

describe('rows of a dataset', () => {
  it('are those that were added and not removed, and what is derived from them follows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someStep, { minLength: 1, maxLength: 8 }), async (steps) => {
        const chainId = nextChainId++;
        const chain = chainOf(chainId);
        await registerProjections(scratch.database, chain, [dataset]);
        const model = new Map<string, Row>();
        const within = ({ from, to }: BlockRange) =>
          [...model.values()].filter(({ block }) => from <= block && block <= to);
        const take = async (transaction: Transaction, step: (typeof steps)[number]): Promise<void> => {
          if (step.kind === 'add') {
            const absent = step.rows.filter((row) => !model.has(keyOf(row)));
            const added = await addRows(transaction, partsOf(step.rows, chainId, step.rowsAtOnce), 'may-exist');
            await deriveAdded(transaction, chain, added.changes);
            expect(added.changes.reduce((sum, { rows }) => sum + rows, 0)).toBe(absent.length);
            expect(added.decoded.get('marks')).toBe(step.rows.length);
            for (const row of absent) model.set(keyOf(row), row);
          } else if (step.kind === 'remove') {
            const gone = within(step.range);
            const removed = await removeRows(transaction, chain, [dataset], step.range);
            await deriveRemoved(transaction, chain, removed);
            expect(removed).toEqual([{ dataset, rows: gone.length }]);
            for (const row of gone) model.delete(keyOf(row));
          } else {
            const { range } = step;
            const truth = step.rows.filter(({ block }) => range.from <= block && block <= range.to);
            const before = within(range);
            await stageRows(transaction, partsOf(truth, chainId, step.rowsAtOnce));
            const surplus = await removeSurplus(transaction, chain, dataset, range);
            await deriveRemoved(transaction, chain, [surplus]);
            const missing = await addMissing(transaction, chain, dataset, range);
            await deriveAdded(transaction, chain, [missing]);
            const known = new Set(before.map(textOf));
            const wanted = new Set(truth.map(textOf));
            expect(byBlock(surplus.byBlock)).toEqual(
              countByBlock(before.filter((row) => !wanted.has(textOf(row)))),
            );
            expect(byBlock(missing.byBlock)).toEqual(
              countByBlock(truth.filter((row) => !known.has(textOf(row)))),
            );
            for (const row of before) model.delete(keyOf(row));
            for (const row of truth) model.set(keyOf(row), row);
          }
        };
        for (const step of steps) {
          await scratch.database.transaction((transaction) => take(transaction, step));
          expect(await storedRows(chainId)).toEqual([...model.values()].map(textOf).sort());
          expect(await misderived(scratch.database, chainId)).toEqual([]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('that a range is thought to lack are an error where they are there, and none is added then', async () => {
    const chainId = nextChainId++;
    const chain = chainOf(chainId);
    await registerProjections(scratch.database, chain, [dataset]);
    const row = { account: 1, block: 2, logIndex: 0, amount: 3 };
    const add = (rows: readonly Row[]) =>
      scratch.database.transaction(async (transaction) => {
        const added = await addRows(transaction, partsOf(rows, chainId, 1), 'empty-range');
        await deriveAdded(transaction, chain, added.changes);
      });
    await add([row]);
    await expect(add([{ ...row, logIndex: 1 }, row])).rejects.toMatchObject({ code: '23505' });
    expect(await storedRows(chainId)).toEqual([textOf(row)]);
    expect(await misderived(scratch.database, chainId)).toEqual([]);
  });

  it('of other chains stay', async () => {
    const [one, other] = [nextChainId++, nextChainId++];
    const row = { account: 1, block: 2, logIndex: 0, amount: 3 };
    for (const chainId of [one, other]) {
      await registerProjections(scratch.database, chainOf(chainId), [dataset]);
      await scratch.database.transaction(async (transaction) => {
        const added = await addRows(transaction, partsOf([row], chainId, 5), 'may-exist');
        await deriveAdded(transaction, chainOf(chainId), added.changes);
      });
    }
    await scratch.database.transaction(async (transaction) => {
      await deriveRemoved(
        transaction,
        chainOf(one),
        await removeRows(transaction, chainOf(one), [dataset], { from: 1, to: LAST_BLOCK }),
      );
    });
    expect([await storedRows(one), await storedRows(other)]).toEqual([[], [textOf(row)]]);
    expect(await misderived(scratch.database, other)).toEqual([]);
  });
});

function byBlock(rows: readonly { readonly block: number; readonly rows: number }[]): [number, number][] {
  return rows.map(({ block, rows: count }): [number, number] => [block, count]).sort(([a], [b]) => a - b);
}

function countByBlock(rows: readonly Row[]): [number, number][] {
  const groups = Map.groupBy(rows, ({ block }) => block);
  return [...groups].map(([block, some]): [number, number] => [block, some.length]).sort(([a], [b]) => a - b);
}
