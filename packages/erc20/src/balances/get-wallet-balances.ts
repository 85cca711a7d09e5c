import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
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
  /** Base units; null where it is not known. */
  readonly totalSupply: bigint | null;
  /** Whether it is to be read again. */
  readonly isSupplyOld: boolean;
}

/** With what is known of the wallet's history. */
export interface WalletBalances extends SubjectCoverage {
  /** In the order of the query: those with something to show, and those that are to be read. At most `query.limit`. */
  readonly tokens: readonly HeldToken[];
  readonly hasNext: boolean;
  /** Readings that are made after this moment are newer than what was read here. */
  readonly readAt: Date | null;
}

/** What is known of a wallet's balances, in one statement. */
export async function getWalletBalances(
  database: Database,
  chain: Chain,
  query: WalletBalancesQuery,
): Promise<WalletBalances> {
  const { text, values } = walletBalancesStatement(chain, query);
  const rows = await database.query<SubjectColumns & { read_at: Date } & (TokenColumns | { token: null })>(
    text,
    values,
  );
  const coverage = readSubject(chain, rows[0]);
  const tokens = rows.flatMap((row) => (row.token === null ? [] : [toHeld(row, coverage.isBuilt)]));
  return {
    ...coverage,
    tokens: tokens.slice(0, query.limit),
    hasNext: tokens.length > query.limit,
    readAt: rows[0]?.read_at ?? null,
  };
}

interface TokenColumns {
  token: Address;
  place: number[];
  class: HeldToken['class'];
  adds_up: boolean;
  balance: string | null;
  balance_block: number | null;
  due: HeldToken['due'];
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  facts_status: string | null;
  logo: string | null;
  verified: boolean;
  possible_spam: boolean;
  total_supply: string | null;
  is_supply_old: boolean;
}

/** While what moved is still being counted, only what needs no counting is told. */
function toHeld(row: TokenColumns, isBuilt: boolean): HeldToken {
  const isTold = row.balance !== null && (isBuilt || row.class === 'live');
  return {
    token: row.token,
    place: row.place,
    class: row.class,
    addsUp: row.adds_up,
    balance: isTold && row.balance !== null ? BigInt(row.balance) : null,
    balanceBlock: isTold ? row.balance_block : null,
    due: isTold || row.class === 'none' ? row.due : 'now',
    facts: {
      name: row.name,
      symbol: row.symbol,
      decimals: row.decimals ?? (row.facts_status === null || row.facts_status === 'pending' ? null : 0),
      logo: row.logo,
      verified: row.verified,
      possibleSpam: row.possible_spam,
      totalSupply: row.total_supply === null ? null : BigInt(row.total_supply),
      isSupplyOld: row.is_supply_old,
    },
  };
}
