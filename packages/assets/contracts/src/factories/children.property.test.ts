/** Blocks of a factory and of its children, committed in any order, with creations that an upstream left out at first. */

import { createChainRegistry } from '@chainstead/chains';
import { type BlockRange, type Log, parseAddress, parseHash, subtractRanges } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync/requests';
import { openRangeCommits, type RangeCommits } from '@chainstead/sync/testing';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { toEventSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { addContract } from '../definitions/add-contract.ts';
import { type ChildFrom, childFrom, readDefinitions } from '../definitions/contract-definition.ts';
import { removeContract } from '../definitions/remove-contract.ts';
import { readDatasetsWith } from '../testing/complete-datasets.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const FACTORY = parseAddress(`0x${'fa'.repeat(20)}`);
const HASH = parseHash(`0x${'ab'.repeat(32)}`);
const CREATED = toEventSelector('Created(address)');
const USED = toEventSelector('Used()');
const BLOCKS = 12;
const ALL = { from: 1, to: BLOCKS };
const addressOf = (index: number) => parseAddress(`0x${(index + 1).toString(16).padStart(40, '0')}`);

/** An event of an address, or a creation of it by the factory. */
interface Happening {
  readonly block: number;
  readonly address: number;
  readonly kind: 'created' | 'used';
  /** Whether the first read of its block lacks it. */
  readonly isLate: boolean;
}

/** A commit of a range. */
interface Step {
  readonly tables: 'factory' | 'children' | 'both';
  readonly range: BlockRange;
  readonly kind: 'add' | 'replace';
  readonly isLying: boolean;
}

let commits: RangeCommits;
beforeAll(async () => {
  commits = await openRangeCommits(scratch.database, chain);
});
afterAll(() => commits.close());

const happening: fc.Arbitrary<Happening> = fc.record({
  block: fc.integer({ min: 1, max: BLOCKS }),
  address: fc.integer({ min: 0, max: 4 }),
  kind: fc.constantFrom('created', 'used', 'used'),
  isLate: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.record({
  tables: fc.constantFrom('factory', 'children', 'both'),
  range: fc
    // Children are written if all creations from the first block on are known.
    .tuple(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: BLOCKS })), fc.integer({ min: 0, max: BLOCKS }))
    .map(([from, size]) => ({ from, to: Math.min(BLOCKS, from + size) })),
  kind: fc.constantFrom('add', 'add', 'replace'),
  isLying: fc.boolean(),
});

/** A child whose creation is only known after its event was read. */
const LATE_CREATION: [Happening[], Step[], ChildFrom] = [
  [
    { block: 1, address: 0, kind: 'created', isLate: true },
    { block: 2, address: 0, kind: 'used', isLate: false },
  ],
  [{ tables: 'both', range: ALL, kind: 'add', isLying: true }],
  'transaction',
];

test('rows of children are those from the place of the first creation on, once all blocks are covered', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { maxLength: 25 }),
      fc.array(step, { maxLength: 12 }),
      fc.constantFrom(...childFrom.options),
      async (happenings, steps, since) => {
        const history = happenings.toSorted((one, other) => one.block - other.block);
        await addFactory(since);
        for (const one of steps) await perform(history, one);
        // The factory is read again without lies, then all that is missing.
        await perform(history, { tables: 'factory', range: ALL, kind: 'replace', isLying: false });
        await perform(history, { tables: 'children', range: ALL, kind: 'add', isLying: false });
        expect(await stored()).toEqual(expected(history, since));
        expect(await openBlocks('contracts.pools_used', ALL)).toEqual([]);
      },
    ),
    { numRuns: atDepth(40), examples: [LATE_CREATION] },
  );
});

async function addFactory(since: ChildFrom): Promise<void> {
  const [known] = await readDefinitions(scratch.database, 'pools');
  if (known !== undefined) await removeContract(scratch.database, 'pools', chain.id);
  await addContract(scratch.database, {
    ...{ name: 'pools', chain, addresses: [FACTORY], firstBlock: 1, events: null, indexed: [] },
    factory: { of: null, event: 'Created(address child)', child: 'child', childFrom: since },
    abi: [{ type: 'event', name: 'Used', inputs: [] }],
  });
  // Children are only indexed if all events of the factory are known.
  expect((await readContractDatasets(scratch.database)).map(({ name }) => name)).toEqual([
    'contracts.pools_created',
  ]);
}

const TABLES = {
  factory: ['contracts.pools_created'],
  children: ['contracts.pools_used'],
  both: ['contracts.pools_created', 'contracts.pools_used'],
} as const;

async function perform(history: readonly Happening[], { tables, range, kind, isLying }: Step): Promise<void> {
  const names = TABLES[tables];
  if (kind === 'replace') return commit(history, names, { range, kind, isLying });
  for (const name of names)
    for (const part of await openBlocks(name, range))
      await commit(history, [name], { range: part, kind, isLying });
}

async function commit(
  history: readonly Happening[],
  names: readonly string[],
  { range, kind, isLying }: Pick<Step, 'range' | 'kind' | 'isLying'>,
): Promise<void> {
  const logs = logsOf(history).flatMap(({ log, isLate }) => {
    const isIn = log.blockNumber >= range.from && log.blockNumber <= range.to;
    return isIn && !(isLying && isLate && log.topics[0] === CREATED) ? [log] : [];
  });
  const datasets = await readDatasetsWith(scratch.database, chain, 'contracts.pools_created');
  const chosen = datasets.filter(({ name }) => names.includes(name));
  expect(chosen).toHaveLength(names.length);
  await commits.commit(chosen, { range, logs, kind }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'CONTRACT_CHILDREN_UNKNOWN' });
  });
}

async function openBlocks(dataset: string, range: BlockRange): Promise<readonly BlockRange[]> {
  const covered = await listCoverage(scratch.database, chain.id);
  return subtractRanges(
    [range],
    covered.filter((one) => one.dataset === dataset).map((one) => one.range),
  );
}

function logsOf(history: readonly Happening[]): readonly { readonly log: Log; readonly isLate: boolean }[] {
  return history.map(({ block, address, kind, isLate }, place) => ({
    isLate,
    log: {
      address: kind === 'created' ? FACTORY : addressOf(address),
      topics: [parseHash(kind === 'created' ? CREATED : USED)],
      data: kind === 'created' ? `0x${addressOf(address).slice(2).padStart(64, '0')}` : '0x',
      ...{ blockTimestamp: null, blockNumber: block, blockHash: HASH, transactionHash: HASH },
      ...{ transactionIndex: transactionOf(place), logIndex: place },
    },
  }));
}

/** Two logs each, if they are of one block. */
const transactionOf = (place: number): number => Math.floor(place / 2);

function expected(history: readonly Happening[], since: ChildFrom): readonly string[] {
  return history.flatMap(({ block, address, kind }, place) => {
    const created = history.findIndex((one) => one.kind === 'created' && one.address === address);
    const creation = history[created];
    if (kind === 'created' || creation === undefined) return [];
    const isSameBlock = creation.block === block;
    const isSameTransaction = isSameBlock && transactionOf(created) === transactionOf(place);
    const isSamePlace = { block: isSameBlock, transaction: isSameTransaction, log: false }[since];
    return created < place || isSamePlace ? [`${block} ${place} ${addressOf(address)}`] : [];
  });
}

async function stored(): Promise<readonly string[]> {
  const rows = await scratch.database.query<{ row: string }>(
    sql`SELECT concat_ws(' ', block_number, log_index, contract) AS row FROM analytics.contract_pools_used ORDER BY block_number, log_index`,
  );
  return rows.map(({ row }) => row);
}
