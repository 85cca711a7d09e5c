import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, createPartitions, exampleChain, explain, PLANS } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { type SeededTransfer, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { knownHolders, moversStatement, partnersStatement, piecesDown } from './slot-search.ts';

const chain = exampleChain();
const BLOCKS = 3_000;
const CUTS = [1_000, 2_000];
const WALLET = addressOf(1);
const TOKEN = addressOf(101);
const RARE = addressOf(102);
const QUIET = addressOf(103);
const ZERO = addressOf(0);

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  await createPartitions(scratch.database, 'erc20_transfer_sides', chain.id, CUTS);
  await seedTransfers(scratch.database, chain, transfers());
  await scratch.database.query(sql`ANALYZE`);
});

/** In each block other accounts move the token ten times; the wallet moves it in every tenth block. */
function* transfers(): Generator<SeededTransfer> {
  const one = (
    blockNumber: number,
    logIndex: number,
    from: Address,
    to: Address,
    token = TOKEN,
  ): SeededTransfer => ({
    ...{ from, to, token, value: 5n },
    ...{ blockNumber, transactionIndex: 0, logIndex },
  });
  for (let block = 0; block < BLOCKS; block++) {
    for (let log = 0; log < 10; log++)
      yield one(block, log, addressOf(10_000 + block), addressOf(20_000 + block * 10 + log));
    if (block % 10 === 0) yield one(block, 10, WALLET, addressOf(500 + (block % 30)));
  }
  yield one(1_500, 11, addressOf(7), addressOf(8), RARE);
  yield one(1_501, 11, ZERO, addressOf(9), RARE);
  yield one(1_502, 11, ZERO, WALLET, RARE);
}

describe('holders of a token', () => {
  const ask = (token: Address, block = BLOCKS): Promise<readonly Address[]> =>
    knownHolders(scratch.database, chain, { token, wallet: WALLET, block });

  it('are those whom the wallet dealt with first, then whoever moved it last', async () => {
    const holders = await ask(TOKEN);
    expect(holders).toHaveLength(16);
    expect(holders.slice(0, 3).toSorted()).toEqual([500, 510, 520].map((number) => addressOf(number)));
    expect(holders[3]).toBe(addressOf(12_999));
  });

  it('are found though the wallet dealt with nobody, the wallet and the zero address left out', async () => {
    expect((await ask(RARE)).toSorted()).toEqual([addressOf(7), addressOf(8), addressOf(9)]);
    expect(await ask(RARE, 1_500)).toHaveLength(2);
  });

  it('are looked for in pieces that grow, down to the first block', () => {
    expect(piecesDown(9_500)).toEqual([
      { fromBlock: 8_501, toBlock: 9_500 },
      { fromBlock: 501, toBlock: 8_500 },
      { fromBlock: 0, toBlock: 500 },
    ]);
    expect(piecesDown(0)).toEqual([{ fromBlock: 0, toBlock: 0 }]);
    expect(piecesDown(200_000_000).length).toBeLessThan(10);
  });

  it('are none of a token that nobody moved, or not yet', async () => {
    expect(await ask(QUIET)).toEqual([]);
    expect(await ask(RARE, 1_499)).toEqual([]);
  });

  it.each(PLANS)(
    'are read from ranges of indexes alone, whatever the wallet moved ($plan plan, $statistics)',
    async ({ plan, prepare }) => {
      await prepare(scratch.database);
      const [piece = { fromBlock: 0, toBlock: 0 }] = piecesDown(BLOCKS - 1);
      for (const token of [TOKEN, RARE, QUIET])
        for (const { statement, rowsMax } of [
          { statement: partnersStatement(chain, { token, wallet: WALLET, block: BLOCKS }), rowsMax: 300 },
          // A token has few transfers in a block range of so small a table: they may be sorted.
          { statement: moversStatement(chain, { token, ...piece }), rowsMax: 10_000 },
        ]) {
          const { nodes, text } = await explain(scratch.database, statement, plan);
          expect(
            nodes.filter((node) => node['Node Type'] === 'Seq Scan'),
            text,
          ).toEqual([]);
          const ranges = nodes.filter((node) => node['Index Name'] !== undefined);
          expect(ranges.length, text).toBeGreaterThan(0);
          expect(
            ranges.filter((node) => node['Index Cond'] === undefined),
            text,
          ).toEqual([]);
          const rows = ranges.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
          expect(rows, text).toBeLessThanOrEqual(rowsMax);
        }
    },
  );
});
