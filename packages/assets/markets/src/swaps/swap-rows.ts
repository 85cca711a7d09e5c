import type { Chain } from '@chainstead/chains';
import { type Address, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { decodeErc20Transfer } from '@chainstead/events/token-events';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { decodePoolEvent } from '../events/decode-pool-event.ts';
import type { LiquidityEvent, PoolId, SwapEvent, TokenAmounts } from '../events/pool-event.ts';
import type { PoolVaults } from '../events/pool-vaults.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { coinsMoved, type TokenTransfer, tokensMoved } from '../pools/tokens-moved.ts';
import type { SwapRow } from '../tables/schema.ts';
import { beneficiariesOf } from '../traders/beneficiary.ts';
import { soldToken } from '../trades/trades-projection.ts';

export function swapRows(transaction: ExecutedTransaction, chain: Chain): readonly SwapRow[] {
  const { vaults } = exchangesOf(chain);
  const events = transaction.logs.flatMap((log) => {
    const event = decodePoolEvent(log, vaults);
    return event === null || event.kind === 'state' ? [] : [{ log, event }];
  });
  if (events.length === 0) return [];
  const transfers = transaction.logs.flatMap((log) => transferOf(log, chain));
  const trades = joinBins(events).map(({ log, event }) => ({ log, event, sides: sidesOf(event, transfers) }));
  const beneficiaries = tradersOf(trades, transaction, transfers, chain, vaults);
  return trades.map(({ log, event, sides }) => {
    const { from: wallet, hash: transactionHash } = transaction;
    const { address, blockNumber, transactionIndex, logIndex } = log;
    const { pool } = event;
    const { token0, token1, amount0, amount1 } = sides;
    const range = event.kind === 'liquidity' ? event.range : null;
    const beneficiary = beneficiaries.get(log) ?? null;
    return {
      ...{ poolKey: poolKey(pool), chainId: chain.id, blockNumber, transactionIndex, logIndex, transactionHash },
      kind: event.kind === 'swap' ? 0 : event.change === 'add' ? 1 : 2,
      ...{ pool, vault: vaults.has(address) ? address : null, token0, token1 },
      ...{ amount0: amount0?.toString() ?? null, amount1: amount1?.toString() ?? null },
      ...{ tickLower: range?.tickLower ?? null, tickUpper: range?.tickUpper ?? null },
      liquidityDelta: range?.liquidityDelta.toString() ?? null,
      ...{ wallet, beneficiary: beneficiary === wallet ? null : beneficiary },
    };
  });
}

interface LoggedEvent {
  readonly log: Log;
  readonly event: SwapEvent | LiquidityEvent;
}

/** Liquidity Book logs each crossed bin: they count as one, at the first log. */
function joinBins(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const joined: LoggedEvent[] = [];
  const firsts = new Map<string, number>();
  for (const { log, event } of events) {
    const amounts = event.kind === 'swap' && event.state?.of === 'bin' ? event.amounts : null;
    const key = amounts?.of === 'sides' ? `${event.pool} ${amounts.amount0 > 0n}` : null;
    const index = key === null ? undefined : firsts.get(key);
    const first = index === undefined ? undefined : joined[index];
    if (index !== undefined && first?.event.amounts?.of === 'sides' && amounts?.of === 'sides') {
      const { amount0, amount1 } = first.event.amounts;
      const sum = {
        of: 'sides',
        amount0: amount0 + amounts.amount0,
        amount1: amount1 + amounts.amount1,
      } as const;
      joined[index] = { log: first.log, event: { ...event, amounts: sum } };
      continue;
    }
    if (key !== null) firsts.set(key, joined.length);
    joined.push({ log, event });
  }
  return joined;
}

interface Sides {
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly amount0: bigint | null;
  readonly amount1: bigint | null;
}

function sidesOf(event: SwapEvent | LiquidityEvent, transfers: readonly TokenTransfer[]): Sides {
  const { amounts } = event;
  if (amounts === null) return { token0: null, token1: null, amount0: null, amount1: null };
  if (amounts.of === 'tokens') return namedSides(event.pool, amounts, transfers);
  const isSorted = event.kind === 'liquidity' || event.state?.of !== 'bin';
  const [token0 = null, token1 = null] = tokensMoved(event.pool, amounts, transfers, isSorted) ?? [];
  return { token0, token1, amount0: amounts.amount0, amount1: amounts.amount1 };
}

/** The lower address is token 0; if one is unknown, the sold token. */
function namedSides(pool: PoolId, amounts: TokenAmounts, transfers: readonly TokenTransfer[]): Sides {
  const { tokenIn, tokenOut } = coinsMoved(pool, amounts, transfers);
  const isReversed = tokenIn !== null && tokenOut !== null && tokenIn > tokenOut;
  const [sold, bought] = [amounts.amountIn, -amounts.amountOut];
  return isReversed
    ? { token0: tokenOut, token1: tokenIn, amount0: bought, amount1: sold }
    : { token0: tokenIn, token1: tokenOut, amount0: sold, amount1: bought };
}

interface Trade extends LoggedEvent {
  readonly sides: Sides;
}

function tradersOf(
  trades: readonly Trade[],
  transaction: ExecutedTransaction,
  transfers: readonly TokenTransfer[],
  { wrappedNative }: Chain,
  vaults: PoolVaults,
): ReadonlyMap<Log, Address | null> {
  const wrapped = (token: Address): Address => (token === ZERO_ADDRESS ? (wrappedNative ?? token) : token);
  const known = trades.flatMap(({ log, event, sides: { token0, token1, amount0, amount1 } }) => {
    if (event.kind !== 'swap' || token0 === null || token1 === null || amount0 === null || amount1 === null)
      return [];
    const side = soldToken(amount0, amount1);
    if (side === null) return [];
    const [sold, bought] = side === 0 ? [token0, token1] : [token1, token0];
    return [{ log, pool: event.pool, sold: wrapped(sold), bought: wrapped(bought) }];
  });
  if (known.length === 0) return new Map();
  const found = beneficiariesOf(
    known,
    [...transfers, ...transactionValue(transaction, wrappedNative)],
    new Set([ZERO_ADDRESS, ...vaults.keys()]),
  );
  return new Map(known.map(({ log }, index) => [log, found[index] ?? null]));
}

function transactionValue({ from, to, value }: ExecutedTransaction, wrappedNative: Address | null) {
  if (value === 0n || to === null) return [];
  return [{ token: wrappedNative ?? ZERO_ADDRESS, from, to, value }];
}

function transferOf(log: Log, chain: Chain): readonly TokenTransfer[] {
  const transfer = decodeErc20Transfer(log, chain);
  if (transfer === null) return [];
  return [
    {
      token: log.address,
      from: transfer.from,
      to: transfer.to,
      value: BigInt(transfer.value),
      logIndex: log.logIndex,
    },
  ];
}
