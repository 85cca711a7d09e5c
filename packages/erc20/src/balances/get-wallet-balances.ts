import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { areTablesSpread, readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/data-api';
import type { Database } from '@chainstead/db';
import { type PackedTexts, readPackedPage } from '@chainstead/db/packed-rows';
import { HELD_TOKENS, type HeldTokenRow } from './held-token-rows.ts';
import { type Place, type WalletBalancesQuery, walletBalancesStatement } from './wallet-balances-statement.ts';

export interface HeldToken {
  readonly token: Address;
  /** Its newest movement by query order; -1s for none. */
  readonly place: Place;
  /** `sum`: transfers determine balances; `live`: they don't; `none`: the contract has none; `new`: not known yet. */
  readonly class: 'sum' | 'live' | 'none' | 'new';
  /** Reads confirmed its transfers, or a list verifies the token. */
  readonly addsUp: boolean;
  readonly balance: bigint | null;
  readonly balanceBlock: number | null;
  /** The contract must be read: `now` if there is no balance yet; `again` eventually. */
  readonly due: 'now' | 'again' | null;
  readonly facts: TokenFacts;
}

interface TokenFacts {
  readonly name: string | null;
  readonly symbol: string | null;
  /** Null only before the contract is read; 0 if it returns none. */
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean;
  readonly possibleSpam: boolean;
  readonly totalSupply: string | null;
  readonly isSupplyOld: boolean;
}

export interface WalletBalances extends SubjectCoverage {
  readonly tokens: readonly HeldToken[];
  readonly hasNext: boolean;
  /** Contract reads after this moment are newer than these values. */
  readonly readAt: Date;
}

export async function getWalletBalances(
  database: Database,
  chain: Chain,
  query: WalletBalancesQuery,
): Promise<WalletBalances> {
  const isSpread = await areTablesSpread(database);
  const { rows, page } = await readPackedPage<HeldTokenRow, SubjectColumns & PackedTexts & { read_at: Date }>(
    database,
    HELD_TOKENS,
    (select) => walletBalancesStatement(chain, query, select, isSpread),
  );
  const coverage = readSubject(chain, page);
  const ordered = query.order === null ? sortAlike(rows) : rows;
  return {
    ...coverage,
    tokens: ordered.slice(0, query.limit).map((row) => toHeld(row, coverage.isBuilt)),
    hasNext: rows.length > query.limit,
    readAt: page.read_at,
  };
}

/** By address among tokens with the same movement: the index returns them in descending order. */
function sortAlike(rows: readonly HeldTokenRow[]): readonly HeldTokenRow[] {
  const byMovement = Map.groupBy(rows, (row) => `${row.moved_block} ${row.moved_transaction} ${row.moved_log}`);
  return [...byMovement.values()].flatMap((alike) => alike.toReversed());
}

/** While the wallet's transfers are being counted, shows only values that don't depend on them. */
function toHeld(row: HeldTokenRow, isBuilt: boolean): HeldToken {
  const balance = isBuilt || row.class === 'live' ? row.balance : null;
  return {
    token: row.token,
    place: [row.moved_block, row.moved_transaction, row.moved_log],
    class: row.class as HeldToken['class'],
    addsUp: row.adds_up,
    balance: balance === null ? null : BigInt(balance),
    balanceBlock: balance === null || row.balance_block < 0 ? null : row.balance_block,
    due: balance !== null || row.class === 'none' ? (row.due as HeldToken['due']) : 'now',
    facts: {
      name: row.name,
      symbol: row.symbol,
      decimals: row.decimals < 0 ? null : row.decimals,
      logo: row.logo,
      verified: row.verified,
      possibleSpam: row.possible_spam,
      totalSupply: row.total_supply,
      isSupplyOld: row.is_supply_old,
    },
  };
}
