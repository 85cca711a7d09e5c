import type { ChainId } from '@chainstead/core';
import { addressBytes, hexBytes, sql, type Transaction } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import type { LeftOut } from '../tables/schema.ts';

/** For each two tokens: unusual fees, tick spacings and hooks allow any number of pools. */
export const UNUSUAL_MAX = 64;

/** Each combination exists once at a manager: others can't crowd it out. */
const USUAL_FEES = [100, 500, 2_500, 3_000, 10_000];
const USUAL_SPACINGS = [1, 10, 50, 60, 200];

/** BEFORE_SWAP, AFTER_SWAP: bits of a hook's address (Uniswap v4 Hooks.sol). */
const SEES_SWAPS = 0b1100_0000n;

/** Parts per million. Managers accept up to 100 %. */
const FEE_MAX = 10_000;

/** Null: prices consider it. `isTrusted`: its hook is in `TRUSTED_HOOKS`. */
export async function leftOutOf(
  transaction: Transaction,
  chainId: ChainId,
  pool: ProvenPool,
  isTrusted: boolean,
): Promise<LeftOut | null> {
  const { exchange, tokens, hooks, fee, tickSpacing } = pool;
  if (!exchange.family.isVault || tokens === null || isTrusted) return null;
  // A hook may refuse swaps, or the fee eats the gain of a correction: false prices cost nothing.
  const seesSwaps = hooks !== null && (BigInt(hooks) & SEES_SWAPS) !== 0n;
  if (seesSwaps || (fee ?? 0) > FEE_MAX) return 'untradable';
  if (hooks === null && USUAL_FEES.includes(fee ?? 0) && USUAL_SPACINGS.includes(tickSpacing ?? 0)) return null;
  const [token0, token1] = tokens;
  const [row] = await transaction.query<{ unusual: number }>(
    sql`SELECT count(*)::int AS unusual FROM pools WHERE address_key(token0) = ${addressKey(token0)}::bigint AND chain_id = ${chainId}
       AND address_key(token1) = ${addressKey(token1)}::bigint AND status = 'proven' AND is_counted AND left_out IS NULL AND token0 = ${addressBytes(token0)} AND token1 = ${addressBytes(token1)}
       AND length(pool) > 20 AND pool <> ${hexBytes(pool.pool)}
       AND NOT (hooks IS NULL AND fee = ANY (${USUAL_FEES}::int[]) AND tick_spacing = ANY (${USUAL_SPACINGS}::int[]))`,
  );
  return (row?.unusual ?? 0) < UNUSUAL_MAX ? null : 'crowded';
}
