/** Blocks of a factory and of its children, committed in any order, with creations that an upstream left out at first. */
import { createChainRegistry } from '@chainstead/chains';
import { type BlockRange, type Log, parseAddress, parseHash, subtractRanges } from '@chainstead/core';
import { type Dataset, listCoverage, lockChainCommits, removeCoverage } from '@chainstead/sync';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { toEventSelector } from 'viem';
import { expect, test } from 'vitest';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { addContract } from '../definitions/add-contract.ts';
import { readDefinitions } from '../definitions/contract-definition.ts';
import { removeContract } from '../definitions/remove-contract.ts';

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

const happening: fc.Arbitrary<Happening> = fc.record({
  block: fc.integer({ min: 1, max: BLOCKS }),
  address: fc.integer({ min: 0, max: 4 }),
  kind: fc.constantFrom('created', 'used', 'used'),
  isLate: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.record({
  tables: fc.constantFrom('factory', 'children', 'both'),
  range: fc
    .tuple(fc.integer({ min: 1, max: BLOCKS }), fc.integer({ min: 0, max: BLOCKS }))
    .map(([from, size]) => ({ from, to: Math.min(BLOCKS, from + size) })),
  kind: fc.constantFrom('add', 'add', 'replace'),
  isLying: fc.boolean(),
});

test('rows of children are those after the first creation, once all blocks are covered', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { maxLength: 25 }),
      fc.array(step, { maxLength: 12 }),
      async (happenings, steps) => {
        const history = happenings.toSorted((one, other) => one.block - other.block);
        const datasets = await addFactory();
        for (const one of steps) await perform(history, datasets, one);
        // The factory is read again without lies, then all that is missing.
        await perform(history, datasets, { tables: 'factory', range: ALL, kind: 'replace', isLying: false });
        await perform(history, datasets, { tables: 'children', range: ALL, kind: 'add', isLying: false });
        expect(await stored()).toEqual(expected(history));
        expect(await openBlocks('contracts.pools_used', ALL)).toEqual([]);
      },
    ),
    { numRuns: atDepth(40) },
  );
});

/** @returns the dataset of the factory's event, and the one of its children */
async function addFactory(): Promise<readonly Dataset[]> {
  const [known] = await readDefinitions(scratch.database, 'pools');
  if (known !== undefined) await removeContract(scratch.database, 'pools', chain.id);
  await addContract(scratch.database, {
    ...{ name: 'pools', chain, addresses: [FACTORY], firstBlock: 1, events: null, indexed: [] },
    factory: { of: null, event: 'Created(address child)', child: 'child' },
    abi: [{ type: 'event', name: 'Used', inputs: [] }],
  });
  // Children are only indexed if all events of the factory are known.
  expect((await readContractDatasets(scratch.database)).map(({ name }) => name)).toEqual(['contracts.pools_created']);
  await cover('contracts.pools_created', ALL);
  const datasets = await readContractDatasets(scratch.database);
  await scratch.database.query('DELETE FROM sync_ranges');
  expect(datasets.map(({ name }) => name)).toEqual(['contracts.pools_created', 'contracts.pools_used']);
  return datasets;
}

async function perform(
  history: readonly Happening[],
  all: readonly Dataset[],
  { tables, range, kind, isLying }: Step,
): Promise<void> {
  const datasets = all.filter((_, index) => tables === 'both' || (tables === 'factory' ? index === 0 : index === 1));
  if (kind === 'replace') return commit(history, datasets, { range, kind, isLying });
  for (const dataset of datasets)
    for (const part of await openBlocks(dataset.name, range))
      await commit(history, [dataset], { range: part, kind, isLying });
}

/** As the sync engine does it. */
async function commit(
  history: readonly Happening[],
  datasets: readonly Dataset[],
  { range, kind, isLying }: Pick<Step, 'range' | 'kind' | 'isLying'>,
): Promise<void> {
  const logs = logsOf(history).filter(
    ({ log, isLate }) =>
      log.blockNumber >= range.from && log.blockNumber <= range.to && !(isLying && isLate && log.topics[0] === CREATED),
  );
  const names = new Set(datasets.map(({ name }) => name));
  const work = scratch.database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const ends = new Map<Dataset, () => Promise<void>>();
    for (const one of datasets)
      if (one.preceding !== undefined) ends.set(one, await one.preceding.watch(transaction, chain, range));
    if (kind === 'replace')
      for (const { table } of datasets)
        await transaction.query(`DELETE FROM ${table.name} WHERE block_number BETWEEN $1 AND $2`, [
          range.from,
          range.to,
        ]);
    for (const one of datasets) {
      const rows = one.decode(
        logs.map(({ log }) => log),
        { chain, timestampOf: () => 1_700_000_000 },
      );
      const lines = rows.map((row) => one.table.copyLine(row));
      const chosen = (await one.dependent?.select(transaction, chain, { range, datasets: names }, lines)) ?? lines;
      await transaction.copy(one.table.name, one.table.columns, chosen);
      await ends.get(one)?.();
    }
    for (const { name } of datasets) {
      await removeCoverage(transaction, chain.id, [name], range);
      await transaction.query(COVER, [chain.id, name, range.from, range.to]);
    }
  });
  await work.catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'CONTRACT_CHILDREN_UNKNOWN' });
  });
}

const COVER = `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, $2, $3, $4, 'none')`;

async function cover(dataset: string, { from, to }: BlockRange): Promise<void> {
  await scratch.database.query(COVER, [chain.id, dataset, from, to]);
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
      ...{ transactionIndex: place, logIndex: place },
    },
  }));
}

function expected(history: readonly Happening[]): readonly string[] {
  const known = new Set<number>();
  return history.flatMap(({ block, address, kind }, place) => {
    if (kind === 'created') known.add(address);
    return kind === 'used' && known.has(address) ? [`${block} ${place} ${addressOf(address)}`] : [];
  });
}

async function stored(): Promise<readonly string[]> {
  const rows = await scratch.database.query<{ row: string }>(
    `SELECT concat_ws(' ', block_number, log_index, contract) AS row FROM analytics.contract_pools_used ORDER BY block_number, log_index`,
  );
  return rows.map(({ row }) => row);
}
