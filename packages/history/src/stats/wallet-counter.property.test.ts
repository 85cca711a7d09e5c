/** Counts of wallets against a recount of what was written, while the engine's own commits add rows and blocks leave the chain. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, type Hash, systemClock } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20';
import { nftTransfers } from '@chainstead/nft';
import {
  commitSubjectRows,
  createKeptSubjects,
  createKnownContracts,
  type Dataset,
  lockChainCommits,
} from '@chainstead/sync';
import {
  addressOf,
  atDepth,
  createPartitions,
  createScratchDatabase,
  hashOf,
  type ScratchDatabase,
  seedBuilt,
} from '@chainstead/testkit';
import { accountTransactions, internalTransfers } from '@chainstead/transactions';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WalletCounts } from './count-rows.ts';
import { createWalletCounter } from './wallet-counter.ts';

const registry = createChainRegistry({
  additional: [920, 921, 922].map((id) => ({ key: `counted-${id}`, id })),
});
const [ALICE, BOB, CAROL, TOKEN] = [addressOf(0xa11ce), addressOf(0xb0b), addressOf(0xca401), addressOf(0xc0)] as const;
const WALLETS = [ALICE, BOB, CAROL] as const;
const LAST_BLOCK = 12;

type Kind = 'account' | 'internal' | 'token' | 'nft' | 'approval';
const DATASETS: Readonly<Record<Kind, Dataset>> = {
  account: accountTransactions as Dataset,
  internal: internalTransfers as Dataset,
  token: erc20Transfers as Dataset,
  nft: nftTransfers as Dataset,
  approval: erc20Approvals as Dataset,
};

/** Something that happens between two wallets, in the terms of a test. */
interface Happening {
  readonly kind: Kind;
  readonly block: number;
  readonly index: number;
  readonly log: number;
  readonly from: Address;
  readonly to: Address;
  /** Of NFTs: how many a log moves. */
  readonly items: number;
}

const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom<Kind>('account', 'internal', 'token', 'nft', 'approval'),
  block: fc.nat(LAST_BLOCK),
  index: fc.nat(2),
  log: fc.nat(4),
  from: fc.constantFrom(...WALLETS),
  to: fc.constantFrom(...WALLETS),
  items: fc.integer({ min: 1, max: 3 }),
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ added: fc.array(happening, { minLength: 1, maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ above: fc.nat(LAST_BLOCK) }) },
  { weight: 1, arbitrary: fc.record({ unfollowed: happening }) },
);

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

test(
  'a wallet’s counts are those of its rows, whatever comes and goes while they are counted',
  async () => {
    let nextChain = 930_001;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const id = nextChain++;
        const chain = createChainRegistry({ additional: [{ key: `counted-${id}`, id }] }).get(id);
        const written = await openWritten(chain);
        const counter = createWalletCounter({
          ...{ database: scratch.database, kept: createKeptSubjects(scratch.database), clock: systemClock },
          ...{ waitMs: 30_000, rowsPerRequest: 6, rowsPerStretch: 3 },
        });
        for (const one of steps) {
          const change =
            'added' in one
              ? written.add(one.added)
              : 'above' in one
                ? written.cut(one.above)
                : written.addUnfollowed(one.unfollowed);
          await Promise.all([change, counter.count(chain, ALICE)]);
          for (const wallet of WALLETS)
            expect([wallet, await counter.count(chain, wallet)]).toEqual([wallet, written.expected(wallet)]);
        }
      }),
      { numRuns: atDepth(25) },
    );
  },
  atDepth(240_000),
);

test('of very much, only what is not counted yet is counted again', async () => {
  const chain = registry.get(921);
  const written = await openWritten(chain);
  const counter = createWalletCounter({
    ...{ database: scratch.database, kept: createKeptSubjects(scratch.database), clock: systemClock },
    ...{ waitMs: 30_000, rowsPerRequest: 10, rowsPerStretch: 5 },
  });
  const transfers = (from: number, to: number): Happening[] =>
    Array.from({ length: to - from + 1 }, (_, at) => ({
      ...{ kind: 'token', block: from + at, index: 0, log: 0, from: ALICE, to: BOB, items: 1 },
    }));
  await written.add(transfers(1, 10));
  expect(await counter.count(chain, ALICE)).toMatchObject({ tokenTransfers: 10, involved: 10 });
  expect(await stretches()).toEqual([]);
  await written.add(transfers(11, 23));
  expect(await counter.count(chain, ALICE)).toMatchObject({ tokenTransfers: 23, involved: 23 });
  expect(await stretches()).toEqual([
    [0, 5, 5],
    [6, 10, 5],
    [11, 15, 5],
    [16, 20, 5],
  ]);
  // The stretches say so, not the rows.
  await scratch.database.query('UPDATE wallet_counts SET token_transfers = 6 WHERE first_block = 6');
  expect((await counter.count(chain, ALICE)).tokenTransfers).toBe(24);
  await written.add([{ kind: 'nft', block: 7, index: 1, log: 3, from: BOB, to: ALICE, items: 2 }]);
  expect(await counter.count(chain, ALICE)).toMatchObject({ tokenTransfers: 23, nftTransfers: 1, involved: 24 });
  expect(await stretches()).toHaveLength(3);
  expect(await counter.count(chain, CAROL)).toMatchObject({ involved: 0 });

  async function stretches() {
    const rows = await scratch.database.query<{ first: number; last: number; tokens: number }>(
      'SELECT first_block AS first, last_block AS last, token_transfers AS tokens FROM wallet_counts WHERE chain_id = 921 ORDER BY 1',
    );
    return rows.map(({ first, last, tokens }) => [first, last, tokens]);
  }
});

test('is unavailable while nobody follows the rows of the chain', async () => {
  const chain = registry.get(922);
  const written = await openWritten(chain);
  await scratch.database.query('DELETE FROM derived_states WHERE chain_id = 922');
  const counter = createWalletCounter({
    ...{ database: scratch.database, kept: createKeptSubjects(scratch.database), clock: systemClock },
    ...{ waitMs: 1_000, rowsPerRequest: 1, rowsPerStretch: 1 },
  });
  const some = [1, 2, 3].map((block): Happening => {
    return { kind: 'approval', block, index: 0, log: 0, from: ALICE, to: BOB, items: 1 };
  });
  await written.add(some);
  await expect(counter.count(chain, ALICE)).rejects.toThrow('what the wallet did on counted-922 is being counted');
});

/** Rows of a chain that the test writes, by the engine's commits, and what they come to. */
async function openWritten(chain: Chain) {
  const { database } = scratch;
  for (const dataset of Object.values(DATASETS)) {
    await createPartitions(database, dataset.table.name, chain.id);
    for (const state of dataset.kept ?? []) await seedBuilt(database, chain.id, state);
  }
  const there = new Map<string, Happening>();
  const knownContracts = createKnownContracts();

  const commit = async (happenings: readonly Happening[], isFollowed: boolean): Promise<void> => {
    const fresh = happenings.filter((one) => !there.has(keyOf(one)));
    const unique = [...new Map(fresh.map((one) => [keyOf(one), one])).values()];
    const parts = [...Map.groupBy(unique, ({ kind }) => kind)].map(([kind, some]) => ({
      dataset: isFollowed ? DATASETS[kind] : { ...DATASETS[kind], kept: [] },
      lines: some.flatMap((one) => rowsOf(chain, one)).map((row) => DATASETS[kind].table.copyLine(row)),
      mentions: [],
    }));
    const blocks = [...new Set(unique.map(({ block }) => block))].map((number) => ({
      ...{ number, hash: hashOf(1, number), parentHash: null, timestamp: number },
    }));
    await commitSubjectRows({ chain, database, knownContracts }, { blocks, parts, record: async () => undefined });
    for (const one of unique) there.set(keyOf(one), one);
  };

  return {
    add: (happenings: readonly Happening[]) => commit(happenings, true),
    /** By a program that does not know of counts. */
    addUnfollowed: (one: Happening) => commit([one], false),
    /** The blocks above one leave the chain. */
    async cut(above: number): Promise<void> {
      await database.transaction(async (transaction) => {
        await lockChainCommits(transaction, chain);
        for (const { name, table, kept = [] } of Object.values(DATASETS)) {
          const gone = `gone_${name.replaceAll('-', '_')}`;
          await transaction.query(`CREATE TEMPORARY TABLE ${gone} (LIKE ${table.name}) ON COMMIT DROP`);
          await transaction.query(
            `WITH removed AS (DELETE FROM ${table.name} WHERE chain_id = ${chain.id} AND block_number > ${above} RETURNING *)
             INSERT INTO ${gone} SELECT * FROM removed`,
          );
          for (const state of kept.filter((one) => one.name.startsWith('wallet-counts')))
            for (const statement of state.removed(gone, keptOf(chain, state.name), table.name))
              await transaction.query(statement);
        }
      });
      for (const [key, { block }] of there) if (block > above) there.delete(key);
    },
    expected: (wallet: Address): WalletCounts => countsOf(wallet, [...there.values()]),
  };
}

function keptOf({ id }: Chain, state: string): string {
  return `(SELECT subject, coalesce(built_to, 9007199254740991) AS built_to FROM kept_subjects
    WHERE chain_id = ${id} AND state = '${state}' AND NOT is_stale)`;
}

/** Two of one place and log are one. */
function keyOf({ kind, block, index, log }: Happening): string {
  return kind === 'account' ? `account ${block} ${index}` : `${kind} ${block} ${index} ${log}`;
}

function countsOf(wallet: Address, all: readonly Happening[]): WalletCounts {
  const own = all.filter(({ kind, from, to }) => from === wallet || (kind !== 'approval' && to === wallet));
  const of = (kind: Kind) => own.filter((one) => one.kind === kind);
  return {
    sent: of('account').filter(({ from }) => from === wallet).length,
    involved: new Set(own.map(({ block, index }) => `${block} ${index}`)).size,
    nftTransfers: of('nft').length,
    tokenTransfers: of('token').length,
  };
}

function rowsOf({ id: chainId }: Chain, { kind, block, index, log, from, to, items }: Happening): readonly unknown[] {
  const place = { chainId, blockNumber: block, transactionIndex: index };
  const transactionHash: Hash = hashOf(2, block * 10 + index);
  const logged = { ...place, logIndex: log, transactionHash };
  const sides = <Row>(sideOf: (account: Address, counterparty: Address, direction: 0 | 1 | 2) => Row): Row[] =>
    from === to ? [sideOf(from, to, 2)] : [sideOf(from, to, 0), sideOf(to, from, 1)];
  switch (kind) {
    case 'account': {
      const parts =
        from === to
          ? [{ account: from, roles: 3 }]
          : [
              { account: from, roles: 1 },
              { account: to, roles: 2 },
            ];
      return parts.map((part) => ({
        ...place,
        ...part,
        accountKey: addressKey(part.account),
        transactionKey: '1',
        evidence: 0,
      }));
    }
    case 'internal':
      return sides((account, counterparty, direction) => ({
        ...{ ...place, transactionHash, traceIndex: log, type: 'CALL', value: '1' },
        ...{ accountKey: addressKey(account), account, counterparty, direction },
      }));
    case 'token':
      return sides((account, counterparty, direction) => ({
        ...{ ...logged, accountKey: addressKey(account), account, counterparty, direction },
        ...{ token: TOKEN, value: '1' },
      }));
    case 'nft':
      return Array.from({ length: items }, (_, item) => ({
        ...{ ...logged, item, collectionKey: addressKey(TOKEN), tokenAddress: TOKEN, fromAddress: from, toAddress: to },
        ...{ kind: 1, tokenId: String(item), lastTokenId: null, amount: '1', operator: null },
      }));
    case 'approval':
      return [{ ...logged, ownerKey: addressKey(from), owner: from, token: TOKEN, spender: to, value: '1' }];
  }
}
