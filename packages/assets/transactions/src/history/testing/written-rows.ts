/** Rows of a wallet's history that a test writes by the engine's commits, and their counts. */
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { type Database, rawSql, runStatements, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { erc20Approvals, erc20Transfers } from '@chainstead/erc20/requests';
import { nftTransfers } from '@chainstead/nft/requests';
import { createKnownContracts } from '@chainstead/sync';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { Dataset } from '@chainstead/sync/datasets';
import { commitSubjectRows, LOCAL_ACCESS } from '@chainstead/sync/ingest';
import { addressOf, createPartitions, hashOf } from '@chainstead/testkit';
import { internalTransfers } from '../../internal-transfers/dataset.ts';
import { accountTransactions } from '../../stored/datasets.ts';
import type { WalletCounts } from '../stats/counted-ranges.ts';

const TOKEN = addressOf(0xc0);
/** Has only rows without a role: some contain its approvals, which belong to its history, and others nothing. */
export const BESIDE = addressOf(0xbe51de);

/** `evidence` of an account with an approval other than token amounts. */
const APPROVES = 1 << 30;

export type HappeningKind = 'account' | 'internal' | 'token' | 'nft' | 'approval';
const DATASETS: Readonly<Record<HappeningKind, Dataset>> = {
  account: accountTransactions as Dataset,
  internal: internalTransfers as Dataset,
  token: erc20Transfers as Dataset,
  nft: nftTransfers as Dataset,
  approval: erc20Approvals as Dataset,
};

/** An interaction between two wallets. */
export interface Happening {
  readonly kind: HappeningKind;
  readonly block: number;
  readonly index: number;
  readonly log: number;
  readonly from: Address;
  readonly to: Address;
  /** Of NFTs: the number that a log moves. */
  readonly items: number;
}

/** Rows of a chain that the test writes, by the engine's commits, and their counts. */
export async function openWritten(database: Database, chain: Chain) {
  for (const dataset of Object.values(DATASETS)) {
    await createPartitions(database, dataset.table.name, chain.id);
    await register(database, chain, dataset);
  }
  const there = new Map<string, Happening>();
  const knownContracts = createKnownContracts();

  const commit = async (happenings: readonly Happening[], isFollowed: boolean): Promise<void> => {
    const fresh = happenings.filter((one) => !there.has(keyOf(one)));
    const unique = [...new Map(fresh.map((one) => [keyOf(one), one])).values()];
    const parts = [...Map.groupBy(unique, ({ kind }) => kind)].map(([kind, some]) => ({
      dataset: isFollowed ? DATASETS[kind] : { ...DATASETS[kind], projections: [] },
      lines: some.flatMap((one) => rowsOf(chain, one)).map((row) => DATASETS[kind].table.copyLine(row)),
      mentions: [],
    }));
    const blocks = [...new Set(unique.map(({ block }) => block))].map((number) => ({
      ...{ number, hash: hashOf(1, number), parentHash: null, timestamp: number },
    }));
    await commitSubjectRows(
      { chain, database, knownContracts },
      { blocks, parts, record: async () => undefined },
    );
    for (const one of unique) there.set(keyOf(one), one);
  };

  return {
    add: (happenings: readonly Happening[]) => commit(happenings, true),
    /** Written by a program without support for counts; then one with support is started again. */
    async addUnfollowed(one: Happening): Promise<void> {
      await commit([one], false);
      await register(database, chain, DATASETS[one.kind]);
    },
    /** The blocks above one leave the chain. */
    async cut(above: number): Promise<void> {
      await database.transaction(async (transaction) => {
        await lockChainCommits(transaction, chain);
        for (const { name, table, projections = [] } of Object.values(DATASETS)) {
          const gone = `gone_${name.replaceAll('-', '_')}`;
          await transaction.query(
            sql`CREATE TEMPORARY TABLE ${rawSql(gone)} (LIKE ${rawSql(table.name)}) ON COMMIT DROP`,
          );
          await transaction.query(
            sql`WITH removed AS (DELETE FROM ${rawSql(table.name)} WHERE chain_id = ${rawSql(chain.id)} AND block_number > ${rawSql(above)} RETURNING *)
             INSERT INTO ${rawSql(gone)} SELECT * FROM removed`,
          );
          for (const state of projections.filter((one) => one.name.startsWith('wallet-counts')))
            await runStatements(
              transaction,
              state.removed({
                rows: rawSql(gone),
                subjects: subjectsOf(chain, state.name),
                remaining: rawSql(table.name),
                access: LOCAL_ACCESS,
              }),
            );
        }
      });
      for (const [key, { block }] of there) if (block > above) there.delete(key);
    },
    expected: (wallet: Address): WalletCounts => countsOf(wallet, [...there.values()]),
  };
}

/** Registers a state as the engine does before it writes: its subject data is invalid if it was unknown in between. */
async function register(database: Database, chain: Chain, { name, projections = [] }: Dataset): Promise<void> {
  for (const state of projections)
    await database.transaction(async (transaction) => {
      await lockChainCommits(transaction, chain);
      const known = await transaction.query(
        sql`SELECT FROM projections WHERE chain_id = ${chain.id} AND state = ${state.name}`,
      );
      if (known.length > 0) return;
      await transaction.query(
        sql`UPDATE subject_projections SET built_to = -1, is_stale = true WHERE chain_id = ${chain.id} AND state = ${state.name}`,
      );
      await transaction.query(
        sql`INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES (${chain.id}, ${state.name}, ${name}, ${state.version}, 'built', 0)`,
      );
    });
}

function subjectsOf({ id }: Chain, state: string): Sql {
  return sql`(SELECT subject, coalesce(built_to, 9007199254740991) AS built_to FROM subject_projections
    WHERE chain_id = ${id} AND state = ${state} AND NOT is_stale)`;
}

/** Two with the same position and log are one. */
function keyOf({ kind, block, index, log }: Happening): string {
  return kind === 'account' ? `account ${block} ${index}` : `${kind} ${block} ${index} ${log}`;
}

function countsOf(wallet: Address, all: readonly Happening[]): WalletCounts {
  const own = all.filter(
    ({ kind, from, to, log }) =>
      from === wallet ||
      (kind !== 'approval' && to === wallet) ||
      (wallet === BESIDE && kind === 'account' && from === to && log === 0),
  );
  const of = (kind: HappeningKind) => own.filter((one) => one.kind === kind);
  return {
    sent: of('account').filter(({ from }) => from === wallet).length,
    involved: new Set(own.map(({ block, index }) => `${block} ${index}`)).size,
    nftTransfers: of('nft').length,
    tokenTransfers: of('token').length,
  };
}

function rowsOf(
  { id: chainId }: Chain,
  { kind, block, index, log, from, to, items }: Happening,
): readonly unknown[] {
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
      // It has evidence in the logs, but no part in the transaction.
      const related = from === to ? [{ account: BESIDE, roles: -1, evidence: log === 0 ? APPROVES : 0 }] : [];
      return [...parts, ...related].map((part) => ({
        ...{ ...place, evidence: 0, ...part },
        accountKey: addressKey(part.account),
        transactionKey: '1',
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
        ...{
          ...logged,
          item,
          collectionKey: addressKey(TOKEN),
          tokenAddress: TOKEN,
          fromAddress: from,
          toAddress: to,
        },
        ...{ kind: 1, tokenId: String(item), lastTokenId: null, amount: '1', operator: null },
      }));
    case 'approval':
      return [{ ...logged, ownerKey: addressKey(from), owner: from, token: TOKEN, spender: to, value: '1' }];
  }
}
