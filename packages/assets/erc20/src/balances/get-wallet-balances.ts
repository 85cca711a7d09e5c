import type { Chain } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import { type PackedTexts, readPackedPage } from '@chainstead/db/packed-rows';
import { areTablesSpread, readSubject, type SubjectColumns } from '@chainstead/pages';
import { HELD_TOKENS, type HeldTokenRow } from './held-token-rows.ts';
import { type WalletBalancesQuery, walletBalancesStatement } from './wallet-balances-statement.ts';

export type WalletBalances = Awaited<ReturnType<typeof getWalletBalances>>;
export type HeldToken = ReturnType<typeof toHeld>;

/** Contract reads after `readAt` are newer than these values. */
export async function getWalletBalances(database: Database, chain: Chain, query: WalletBalancesQuery) {
  const isSpread = await areTablesSpread(database);
  const { rows, page } = await readPackedPage<HeldTokenRow, SubjectColumns & PackedTexts & { readAt: Date }>(
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
    readAt: page.readAt,
  };
}

/** The index returns tokens with the same movement in descending order. */
function sortAlike(rows: readonly HeldTokenRow[]): readonly HeldTokenRow[] {
  const byMovement = Map.groupBy(rows, (row) => `${row.moved_block} ${row.moved_transaction} ${row.moved_log}`);
  return [...byMovement.values()].flatMap((alike) => alike.toReversed());
}

/** Until the wallet's transfers are counted, only values that don't depend on them. */
function toHeld(row: HeldTokenRow, isBuilt: boolean) {
  // Invariant: BALANCE-RIGHT-OR-ABSENT
  const balance = isBuilt || row.class === 'live' ? row.balance : null;
  return {
    token: row.token,
    /** Newest movement by query order; -1s for none. */
    place: [row.moved_block, row.moved_transaction, row.moved_log],
    /** `sum`: by transfers; `live`: not by transfers; `none`: no balance; `new`: unknown. */
    class: row.class as 'sum' | 'live' | 'none' | 'new',
    addsUp: row.adds_up,
    balance: balance === null ? null : BigInt(balance),
    balanceBlock: balance === null || row.balance_block < 0 ? null : row.balance_block,
    /** `now`: there is no balance yet; `again`: eventually. */
    due: balance !== null || row.class === 'none' ? (row.due as 'now' | 'again' | null) : ('now' as const),
    facts: {
      name: row.name,
      symbol: row.symbol,
      /** Null only before the contract is read; 0 if it returns none. */
      decimals: row.decimals < 0 ? null : row.decimals,
      logo: row.logo,
      verified: row.verified,
      possibleSpam: row.possible_spam,
      totalSupply: row.total_supply,
      isSupplyOld: row.is_supply_old,
    },
  };
}
