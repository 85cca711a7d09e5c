/**
 * Amounts of a wallet instead of a pool's, from its ERC-20 transfers in the transaction. They differ for tokens that take a fee of
 * each transfer: the wallet receives less than the pool sent, and sends more than the pool received.
 */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey, DIRECTION } from '@chainstead/db/column-types';

export interface PoolTrade {
  readonly pool: { readonly token0: Address; readonly token1: Address };
  /** Null: it is no contract. */
  readonly address: Address | null;
  readonly isSold0: boolean;
  /** Base units that the pool sent and received. */
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export type Amounts = readonly [amount0: bigint, amount1: bigint];

export interface WalletTransaction {
  readonly wallet: Address;
  readonly block: number;
  readonly transaction: number;
}

interface TokenMoves {
  received: bigint;
  sent: bigint;
  readonly recipients: Set<Address>;
}

export type Moves = ReadonlyMap<Address, TokenMoves>;

/** By {@link movesKey}. Absent: the wallet has no transfers in the transaction, or none are indexed. */
export async function readMoves(
  database: ReadDatabase,
  chain: Chain,
  wanted: readonly WalletTransaction[],
  isSpread: boolean,
): Promise<ReadonlyMap<string, Moves>> {
  if (wanted.length === 0) return new Map();
  const rows = await database.select<{
    readonly wallet: Address;
    readonly block: number;
    readonly transaction: number;
    readonly token: Address;
    readonly counterparty: Address;
    readonly isSent: boolean;
    readonly value: string;
  }>(movesStatement(chain, wanted, isSpread));
  const moves = new Map<string, Map<Address, TokenMoves>>();
  for (const { token, counterparty, isSent, value, ...place } of rows) {
    const key = movesKey(place);
    const ofTransaction = moves.get(key) ?? new Map<Address, TokenMoves>();
    moves.set(key, ofTransaction);
    const own = ofTransaction.get(token) ?? { received: 0n, sent: 0n, recipients: new Set<Address>() };
    ofTransaction.set(token, own);
    if (isSent) {
      own.sent += BigInt(value);
      own.recipients.add(counterparty);
    } else own.received += BigInt(value);
  }
  return moves;
}

/** One range of an index for each wallet and block. */
export function movesStatement({ id }: Chain, wanted: readonly WalletTransaction[], isSpread: boolean): Sql {
  const places = new Map(wanted.map((one) => [`${one.wallet} ${one.block}`, one]));
  const wallets = [...places.values()].map(({ wallet }) => wallet);
  const blocks = [...places.values()].map(({ block }) => block);
  const isSide = sql`side.account_key = wanted.key AND side.chain_id = ${id} AND side.block_number = wanted.block AND side.account = wanted.account`;
  const sides = isSpread
    ? sql`JOIN erc20_transfer_sides AS side ON ${isSide}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM erc20_transfer_sides AS side WHERE ${isSide} OFFSET 0) AS side`;
  return sql`SELECT ${hexText('side.account')} AS wallet, side.block_number::int8 AS block, side.transaction_index AS transaction, ${hexText('side.token')} AS token,
       ${hexText('side.counterparty')} AS counterparty, side.direction = ${rawSql(DIRECTION.sent)} AS is_sent, sum(side.value)::text AS value
     FROM unnest(${wallets.map(addressKey)}::bigint[], ${wallets.map(addressBytes)}::bytea[], ${blocks}::int[]) AS wanted(key, account, block) ${sides}
     WHERE side.direction <> ${rawSql(DIRECTION.self)} GROUP BY side.account, side.block_number, side.transaction_index, side.token, side.counterparty, side.direction`;
}

export function movesKey({ wallet, block, transaction }: WalletTransaction): string {
  return `${wallet} ${block} ${transaction}`;
}

/**
 * Trades of one transaction, in order. The pool's amounts stay without transfers of the wallet: its contract may hold the tokens.
 */
export function ownAmounts(trades: readonly PoolTrade[], moves: Moves): readonly Amounts[] {
  const amounts = trades.map(({ amount0, amount1 }): [bigint, bigint] => [amount0, amount1]);
  if (moves.size === 0) return amounts;
  const sides = trades.flatMap((trade, index) => [
    { ...{ trade, index }, side: 0 as const, token: trade.pool.token0, isPurchase: !trade.isSold0 },
    { ...{ trade, index }, side: 1 as const, token: trade.pool.token1, isPurchase: trade.isSold0 },
  ]);
  const amountOf = ({ index, side }: (typeof sides)[number]) => amounts[index]?.[side] ?? 0n;
  const byToken = [...Map.groupBy(sides, ({ token }) => token)].map(([token, ofToken]) => {
    const purchases = ofToken.filter(({ isPurchase }) => isPurchase);
    const sales = ofToken.filter(({ isPurchase }) => !isPurchase);
    const [bought, sold] = [purchases, sales].map((list) => list.reduce((sum, one) => sum + amountOf(one), 0n));
    return { ...{ purchases, sales, bought: bought ?? 0n, sold: sold ?? 0n }, own: moves.get(token) ?? null };
  });
  // More than listed pools sent: other pools took a part of what the wallet sold.
  const isSplit = byToken.some(({ own, bought, sold }) => sold === 0n && own !== null && gained(own) > bought);
  const isPaidInTokens = byToken.some(({ own, bought }) => bought > 0n && own !== null && own.received > 0n);
  const settle = (list: typeof sides, sum: bigint, total: bigint) => {
    let [left, rest] = [total, sum];
    for (const one of list) {
      const amount = amountOf(one);
      const share = rest === 0n ? 0n : (left * amount) / rest;
      const own = amounts[one.index];
      if (own !== undefined) own[one.side] = share;
      left -= share;
      rest -= amount;
    }
  };
  for (const { purchases, sales, bought, sold, own } of byToken) {
    const gain = own === null ? 0n : gained(own);
    const kept = gain > 0n ? gain : 0n;
    // A token in between that never arrived has no cost.
    if (sales.length > 0 && bought > sold + kept) settle(purchases, bought, sold + kept);
    else if (sales.length === 0 && gain > 0n && gain < bought) settle(purchases, bought, gain);
    const isDirect = sales.some(({ trade }) => trade.address !== null && own?.recipients.has(trade.address));
    if (bought === 0n && -gain > sold && !isSplit && (isDirect || isPaidInTokens)) settle(sales, sold, -gain);
  }
  return amounts;
}

function gained({ received, sent }: TokenMoves): bigint {
  return received - sent;
}
