/** Compares pages of swaps to a model, with pools, tokens and wallets that share a key, in both orders. */

import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { LogColumnsPosition } from '@chainstead/pages';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { poolKey } from '../pools/pool-creation.ts';
import type { SwapRow } from '../tables/schema.ts';
import { getSwaps } from './get-swaps.ts';
import { type SwapsQuery, type SwapsSubject, TRANSACTION_TYPES } from './swaps-page.ts';
import { cover, seedPools, seedSwaps, swapRow } from './testing/seeded-swaps.ts';

const eth = createChainRegistry().get('eth');
const BLOCKS = 60;

/** Another address with the same key. */
const twinOf = (address: Address): Address =>
  parseAddress(`${address.slice(0, 10)}${'f'.repeat(24)}${address.slice(34)}`);
const WALLETS = [addressOf(0x51), twinOf(addressOf(0x51)), addressOf(0x52)];
// No anchors: token 0 is the base token.
const TOKENS = [addressOf(0x71), addressOf(0x72), twinOf(addressOf(0x71))] as const;
const POOLS = [
  { pool: addressOf(0x91), tokens: [TOKENS[0], TOKENS[1]] },
  { pool: twinOf(addressOf(0x91)), tokens: [TOKENS[1], TOKENS[2]] },
  { pool: addressOf(0x92), tokens: [TOKENS[0], TOKENS[2]] },
  { pool: addressOf(0x93), tokens: [TOKENS[0], TOKENS[1]], status: 'disproved' },
  { pool: addressOf(0x94), tokens: [TOKENS[0], TOKENS[1]], isCounted: false },
] as const;

const scratch = scratchOfFile();
let rows: readonly SwapRow[];

beforeAll(async () => {
  const facts = fc.record({
    place: fc.record({ blockNumber: fc.integer({ min: 1, max: BLOCKS }), logIndex: fc.nat(9) }),
    pool: fc.constantFrom(...POOLS),
    kind: fc.constantFrom(0 as const, 0 as const, 0 as const, 1 as const, 2 as const),
    isSale: fc.boolean(),
    wallet: fc.constantFrom(...WALLETS),
    beneficiary: fc.constantFrom(null, ...WALLETS),
  });
  const sample = fc.sample(fc.array(facts, { minLength: 300, maxLength: 300 }), { numRuns: 1, seed: 7 })[0] ?? [];
  const logs = new Map(sample.map((one) => [`${one.place.blockNumber} ${one.place.logIndex}`, one]));
  rows = [...logs.values()].map(({ place, pool: { pool, tokens }, kind, isSale, wallet, beneficiary }) =>
    swapRow(eth, {
      ...place,
      ...{
        transactionIndex: place.logIndex % 3,
        pool,
        kind,
        wallet,
        beneficiary: beneficiary === wallet ? null : beneficiary,
      },
      ...{ poolKey: poolKey(pool), token0: tokens[0], token1: tokens[1] },
      ...(isSale ? { amount0: '5', amount1: '-7' } : { amount0: '-5', amount1: '7' }),
    }),
  );
  await seedPools(scratch.database, eth, POOLS);
  await seedSwaps(scratch.database, eth, rows, [10, 11, 40]);
  // Runs include rows above the covered blocks.
  await cover(scratch.database, eth, 'swaps', BLOCKS / 2);
});

const subjects: fc.Arbitrary<SwapsSubject> = fc.oneof(
  fc.record({ kind: fc.constant('pair' as const), pool: fc.constantFrom(...POOLS.map(({ pool }) => pool)) }),
  fc.record({ kind: fc.constant('token' as const), token: fc.constantFrom(...TOKENS, addressOf(9)) }),
  fc.record({
    kind: fc.constant('wallet' as const),
    wallet: fc.constantFrom(...WALLETS, addressOf(9)),
    token: fc.constantFrom(null, ...TOKENS),
  }),
);
const bound = fc.option(fc.nat(BLOCKS + 5));
const runs = fc.record({
  subject: subjects,
  types: fc.subarray([...TRANSACTION_TYPES]),
  order: fc.constantFrom('ASC' as const, 'DESC' as const),
  fromBlock: bound,
  toBlock: bound,
  pinnedBlock: bound,
});
type Run = Pick<SwapsQuery, 'subject' | 'types' | 'order' | 'fromBlock' | 'toBlock' | 'pinnedBlock'>;

function isOf(row: SwapRow, subject: SwapsSubject): boolean {
  const hasToken = (token: Address) => row.token0 === token || row.token1 === token;
  if (subject.kind === 'pair') return row.pool === subject.pool;
  if (row.kind !== 0) return false;
  if (subject.kind === 'token') return hasToken(subject.token);
  return (
    [row.wallet, row.beneficiary].includes(subject.wallet) && (subject.token === null || hasToken(subject.token))
  );
}

function typeOf(row: SwapRow, subject: SwapsSubject): string {
  if (row.kind !== 0) return row.kind === 1 ? 'addLiquidity' : 'removeLiquidity';
  const viewed = subject.kind === 'pair' ? null : subject.token;
  const intoPool = viewed === row.token1 ? row.amount1 : row.amount0;
  return Number(intoPool) > 0 ? 'sell' : 'buy';
}

const placeOf = (row: LogColumnsPosition) => `${row.block_number} ${row.transaction_index} ${row.log_index}`;

/** The expected result of a run's pages, computed from the list of rows. */
function expectedRun({ subject, types, order, fromBlock, toBlock, pinnedBlock }: Run): string[] {
  const listed = new Set<string>(POOLS.slice(0, 3).map(({ pool }) => pool));
  const ascending = rows
    .filter((row) => listed.has(row.pool) && isOf(row, subject))
    .filter((row) => types.length === 0 || types.some((type) => type === typeOf(row, subject)))
    .filter(({ blockNumber }) => blockNumber >= (fromBlock ?? 0))
    .filter(({ blockNumber }) => blockNumber <= Math.min(toBlock ?? BLOCKS, pinnedBlock ?? BLOCKS))
    .toSorted(
      (a, b) =>
        a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex,
    )
    .map(({ blockNumber, transactionIndex, logIndex }) =>
      placeOf({ block_number: blockNumber, transaction_index: transactionIndex, log_index: logIndex }),
    );
  return order === 'ASC' ? ascending : ascending.toReversed();
}

async function readRun(run: Run, limit: number): Promise<string[]> {
  const found: string[] = [];
  let pinnedBlock = run.pinnedBlock;
  for (let after: LogColumnsPosition | null = null; ; ) {
    const query: SwapsQuery = { ...run, fromDate: null, toDate: null, limit, after, pinnedBlock };
    const page = await getSwaps(scratch.database, eth, query);
    found.push(...page.swaps.map(placeOf));
    if (page.next === null) return found;
    after = page.next.position;
    pinnedBlock = page.next.upperBound;
  }
}

test('pages put together are exactly the swaps of the model, for any subject, types, bounds, order and page size', async () => {
  await fc.assert(
    fc.asyncProperty(runs, fc.integer({ min: 1, max: 40 }), async (run, limit) => {
      // A list of swaps alone refuses types of liquidity.
      const types =
        run.subject.kind === 'pair' ? run.types : run.types.filter((type) => type === 'buy' || type === 'sell');
      expect(await readRun({ ...run, types }, limit)).toEqual(expectedRun({ ...run, types }));
    }),
    { numRuns: 120 },
  );
});
