/** Blocks of proxies, committed in any order while ABIs of implementations are added, with upgrades that an upstream left out at first. */

import { createChainRegistry } from '@chainstead/chains';
import {
  type Address,
  type BlockRange,
  type Log,
  parseAddress,
  parseHash,
  subtractRanges,
} from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync/requests';
import { openRangeCommits, type RangeCommits } from '@chainstead/sync/testing';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { pad, toEventSelector, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { readDefinitions } from '../definitions/contract-definition.ts';
import { removeContract } from '../definitions/remove-contract.ts';
import { readNamedLogs } from '../named-logs/read-named-logs.ts';
import { readDatasetsWith } from '../testing/complete-datasets.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const HASH = parseHash(`0x${'ab'.repeat(32)}`);
const [UPGRADED, SENT] = [toEventSelector('Upgraded(address)'), toEventSelector('Sent(uint256,uint256)')];
const BLOCKS = 12;
/** Rows of later blocks may still be replaced. */
const SETTLED = 9;
const ALL = { from: 1, to: BLOCKS };
const addressOf = (index: number) => parseAddress(`0x${(index + 1).toString(16).padStart(40, '0')}`);
const PROXIES: readonly Address[] = [0xc0, 0xc1].map(addressOf);
/** The last one is never given. */
const IMPLEMENTATIONS: readonly Address[] = [0xa0, 0xa1, 0xa2, 0xa3].map(addressOf);

const sent = (indexed: 'one' | 'two') => ({
  ...{ type: 'event', name: 'Sent' },
  inputs: ['one', 'two'].map((name) => ({ name, type: 'uint256', indexed: name === indexed })),
});

/** ABIs in the order in which they are added, with their implementations, and the tables of their events. The second one adds a proxy. */
const ADDITIONS = [
  { indexed: 'one', implementation: null, table: 'sent' },
  { indexed: 'two', implementation: IMPLEMENTATIONS[1] ?? null, table: 'sent_2' },
  { indexed: 'one', implementation: IMPLEMENTATIONS[0] ?? null, table: 'sent' },
  { indexed: 'two', implementation: IMPLEMENTATIONS[2] ?? null, table: 'sent_2' },
] as const;

/** An event of a proxy. */
interface Happening {
  readonly block: number;
  readonly proxy: number;
  /** Implementation of an upgrade; null: `Sent`. */
  readonly upgrade: number | null;
  /** Whether the first read of its block lacks it. */
  readonly isLate: boolean;
}

/** A commit of a range, or the next ABI. */
interface Step {
  readonly tables: 'upgrades' | 'forms' | 'both' | 'addition';
  readonly range: BlockRange;
  readonly kind: 'add' | 'replace';
  readonly isLying: boolean;
}

const happening: fc.Arbitrary<Happening> = fc.record({
  block: fc.integer({ min: 1, max: BLOCKS }),
  proxy: fc.integer({ min: 0, max: 1 }),
  upgrade: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 })),
  isLate: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.record({
  tables: fc.constantFrom('upgrades', 'forms', 'both', 'both', 'addition', 'addition'),
  range: fc
    // Forms are written if all upgrades from the first block on are known.
    .tuple(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: BLOCKS })), fc.integer({ min: 0, max: BLOCKS }))
    .map(([from, size]) => ({ from, to: Math.min(BLOCKS, from + size) })),
  kind: fc.constantFrom('add', 'add', 'replace'),
  isLying: fc.boolean(),
});

let commits: RangeCommits;
beforeAll(async () => {
  commits = await openRangeCommits(scratch.database, chain);
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint, checkpoint_hash) VALUES (${chain.id}, 0, 0, ${SETTLED + chain.reorgDepthMax}, '\\xab')`,
  );
});
afterAll(() => commits.close());

/** An upgrade that is only known after the next event was read. */
const LATE_UPGRADE: [Happening[], Step[], number] = [
  [
    { block: 1, proxy: 0, upgrade: 1, isLate: true },
    { block: 2, proxy: 0, upgrade: null, isLate: false },
  ],
  [{ tables: 'both', range: ALL, kind: 'add', isLying: true }],
  2,
];

test('a log is in the table of the last implementation before it, once all blocks are covered', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { maxLength: 25 }),
      fc.array(step, { maxLength: 16 }),
      fc.integer({ min: 1, max: ADDITIONS.length }),
      async (happenings, steps, first) => {
        const history = happenings.toSorted((one, other) => one.block - other.block);
        await removeKnown();
        let added = 0;
        while (added < first) await add(++added);
        for (const one of steps) {
          const { tables } = one;
          if (tables !== 'addition') await perform(history, { ...one, tables });
          else if (added < ADDITIONS.length) await add(++added);
        }
        // Upgrades are read again without lies, then all that is missing.
        await perform(history, { tables: 'upgrades', range: ALL, kind: 'replace', isLying: false });
        await perform(history, { tables: 'forms', range: ALL, kind: 'add', isLying: false });
        expect(await stored()).toEqual(expected(history, added));
        expect(await openBlocks('contracts.vault_sent', ALL)).toEqual([]);
        expect(await namedOf(history)).toEqual(expected(history, added));
      },
    ),
    { numRuns: atDepth(60), examples: [LATE_UPGRADE] },
  );
});

async function removeKnown(): Promise<void> {
  const [known] = await readDefinitions(scratch.database, 'vault');
  if (known !== undefined) await removeContract(scratch.database, 'vault', chain.id);
}

/** Adds the ABI with this position, starting at 1. */
async function add(position: number): Promise<void> {
  const { indexed, implementation } = ADDITIONS[position - 1] ?? ADDITIONS[0];
  await addContract(scratch.database, {
    ...{ name: 'vault', chain, factory: null, firstBlock: 1, events: null, indexed: [] },
    addresses: PROXIES.slice(0, position),
    ...{ abi: [sent(indexed)], implementation },
  });
}

const UPGRADES = 'contracts.vault_upgraded';
const readDatasets = () => readDatasetsWith(scratch.database, chain, UPGRADES);

async function perform(
  history: readonly Happening[],
  {
    tables,
    range,
    kind,
    isLying,
  }: Omit<Step, 'tables'> & { readonly tables: Exclude<Step['tables'], 'addition'> },
): Promise<void> {
  const known = (await readDatasets()).map(({ name }) => name);
  const names = known.filter((name) => tables === 'both' || (tables === 'upgrades') === (name === UPGRADES));
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
    return isIn && !(isLying && isLate && log.topics[0] === UPGRADED) ? [log] : [];
  });
  const datasets = (await readDatasets()).filter(({ name }) => names.includes(name));
  await commits.commit(datasets, { range, logs, kind }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'CONTRACT_IMPLEMENTATIONS_UNKNOWN' });
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
  return history.map(({ block, proxy, upgrade, isLate }, place) => ({
    isLate,
    log: {
      address: PROXIES[proxy] ?? addressOf(0),
      topics: (upgrade === null
        ? [SENT, toHex(place, { size: 32 })]
        : [UPGRADED, pad(IMPLEMENTATIONS[upgrade] ?? '0x')]
      ).map((topic) => parseHash(topic)),
      data: upgrade === null ? toHex(7, { size: 32 }) : '0x',
      ...{ blockTimestamp: null, blockNumber: block, blockHash: HASH, transactionHash: HASH },
      ...{ transactionIndex: place, logIndex: place },
    },
  }));
}

/** Reads one log after the other. */
function expected(history: readonly Happening[], added: number): readonly string[] {
  const tables = new Map(
    ADDITIONS.slice(0, added).map(({ implementation, table }) => [implementation ?? '', table] as const),
  );
  const current = new Map<number, string>();
  return history.flatMap(({ block, proxy, upgrade }, place) => {
    if (proxy >= added) return [];
    const named = upgrade === null ? undefined : tables.get(IMPLEMENTATIONS[upgrade] ?? '');
    if (named !== undefined) current.set(proxy, named);
    return upgrade === null ? [`${block} ${place} ${PROXIES[proxy]} ${current.get(proxy) ?? 'sent'}`] : [];
  });
}

async function stored(): Promise<readonly string[]> {
  const [definition] = await readDefinitions(scratch.database, 'vault');
  const tables = definition?.tables.filter(({ event }) => event !== 'upgraded') ?? [];
  const parts = tables.map(
    ({ name, event }) =>
      `SELECT block_number, log_index, contract, '${event}' AS event FROM ${name} WHERE undecoded IS NULL`,
  );
  const rows = await scratch.database.query<{ row: string }>(
    sql`SELECT concat_ws(' ', block_number, log_index, analytics.hex(contract), event) AS row
       FROM (${rawSql(parts.join(' UNION ALL '))}) AS rows ORDER BY block_number, log_index`,
  );
  return rows.map(({ row }) => row);
}

/** The same from names of events, as streams read them. */
async function namedOf(history: readonly Happening[]): Promise<readonly string[]> {
  const logs = logsOf(history).map(({ log }) => log);
  const request = { chain, names: ['vault.sent', 'vault.sent_2'], logs, ...{ from: 1, completeTo: BLOCKS } };
  const named = await readNamedLogs(scratch.database, await readDefinitions(scratch.database), request);
  return [...named].flatMap(([{ blockNumber, logIndex, address }, names]) =>
    names.map(({ name }) => `${blockNumber} ${logIndex} ${address} ${name.slice('vault.'.length)}`),
  );
}
