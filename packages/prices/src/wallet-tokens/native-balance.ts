import type { Chain } from '@chainstead/chains';
import { type Address, errorText } from '@chainstead/core';
import type { ApiDependencies } from '@chainstead/http';
import { getNativeBalances, type NativeBalancesOptions, StateUnavailableError } from '@chainstead/node-reads';

export interface NativeBalance {
  /** Base units. */
  readonly balance: bigint;
  /** Whether a node returned it. */
  readonly isKnown: boolean;
}

/** Returns the native balance of a wallet after a block; null: the newest block. It is 0 if no node returned it in time. */
export async function nativeOf(
  options: NativeBalancesOptions,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  chain: Chain,
  { wallet, toBlock }: { readonly wallet: Address; readonly toBlock: number | null },
): Promise<NativeBalance> {
  try {
    const { balances } = await getNativeBalances(options, database, chain, { addresses: [wallet], toBlock });
    return { balance: BigInt(balances[0] ?? 0), isKnown: true };
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug({ chain: chain.key, wallet, error: errorText(error) }, 'The native balance is omitted');
    return { balance: 0n, isKnown: false };
  }
}
