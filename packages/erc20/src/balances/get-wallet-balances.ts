import { areTablesSpread, readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type PackedTexts, readPackedPage } from '@chainstead/db/packed-rows';
import { HELD_TOKENS, type HeldTokenRow } from './held-token-rows.ts';
import { type Place, type WalletBalancesQuery, walletBalancesStatement } from './wallet-balances-statement.ts';

/** A token that a wallet has something to do with. */
export interface HeldToken {
  readonly token: Address;
  /** Its newest movement, as the order of the query has it; -1s for none. */
  readonly place: Place;
  /** `sum`: transfers tell its balances; `live`: they don't; `none`: its contract tells none; `new`: nobody knows yet. */
  readonly class: 'sum' | 'live' | 'none' | 'new';
  /** Whether transfers are believed: they were seen to tell balances, or a list vouches for the token. */
  readonly addsUp: boolean;
  /** Base units; null where none can be shown. */
  readonly balance: bigint | null;
  /** After which block that is. */
  readonly balanceBlock: number | null;
  /** Whether its contract is to be asked: `now`, as there is no balance before; `again` at some time. */
  readonly due: 'now' | 'again' | null;
  readonly facts: TokenFacts;
}

/** What is shown of a token beside balances. */
interface TokenFacts {
  readonly name: string | null;
  readonly symbol: string | null;
  /** Null only while it isn't known what the contract says: 0 where that is nothing. */
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean;
  readonly possibleSpam: boolean;
  /** Base units as decimal digits; null where it is not known. */
  readonly totalSupply: string | null;
  /** Whether it is to be read again. */
  readonly isSupplyOld: boolean;
}

/** With what is known of the wallet's history. */
export interface WalletBalances extends SubjectCoverage {
  /** In the order of the query: those with something to show, and those that are to be read. At most `query.limit`. */
  readonly tokens: readonly HeldToken[];
  readonly hasNext: boolean;
  /** Readings that are made after this moment are newer than what was read here. */
  readonly readAt: Date;
}

/** What is known of a wallet's balances, in one statement. */
export async function getWalletBalances(
  database: Database,
  chain: Chain,
  query: WalletBalancesQuery,
): Promise<WalletBalances> {
  const isSpread = await areTablesSpread(database);
  const { rows, page } = await readPackedPage<HeldTokenRow, PageRow>(database, HELD_TOKENS, (select) =>
    walletBalancesStatement(chain, query, select, isSpread),
  );
  const coverage = readSubject(chain, page);
  // A settled order has addresses in order already.
  const ordered = query.order === null ? sortAlike(rows) : rows;
  return {
    ...coverage,
    tokens: ordered.slice(0, query.limit).map((row) => toHeld(row, coverage.isBuilt)),
    hasNext: rows.length > query.limit,
    readAt: page.read_at,
  };
}

/** The only row of the statement. */
interface PageRow extends SubjectColumns, PackedTexts {
  readonly read_at: Date;
}

/** By address among those that moved at the same place: all that never did. The index gives these from the highest address down. */
function sortAlike(rows: readonly HeldTokenRow[]): readonly HeldTokenRow[] {
  const sorted: HeldTokenRow[] = [];
  let alike: HeldTokenRow[] = [];
  for (const row of rows) {
    const [first] = alike;
    if (first !== undefined && !isAlike(first, row)) {
      sorted.push(...alike.toReversed());
      alike = [];
    }
    alike.push(row);
  }
  return [...sorted, ...alike.toReversed()];
}

function isAlike(row: HeldTokenRow, other: HeldTokenRow): boolean {
  return (
    row.moved_block === other.moved_block &&
    row.moved_transaction === other.moved_transaction &&
    row.moved_log === other.moved_log
  );
}

/** While what moved is still being counted, only what needs no counting is told. */
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
