import type { Chain } from '@chainstead/chains';
import { type Address, errorText } from '@chainstead/core';
import type { ApiDependencies } from '@chainstead/http';
import { getNativeBalances, type NativeBalancesOptions, StateUnavailableError } from '@chainstead/node-reads';

/** After a block; null: newest. Base units; 0 and not known if no node answered in time. */
export async function nativeOf(
  options: NativeBalancesOptions,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  chain: Chain,
  { wallet, toBlock }: { readonly wallet: Address; readonly toBlock: number | null },
): Promise<{ readonly balance: bigint; readonly isKnown: boolean }> {
  try {
    const { balances } = await getNativeBalances(options, database, chain, { addresses: [wallet], toBlock });
    return { balance: BigInt(balances[0] ?? 0), isKnown: true };
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug({ chain: chain.key, wallet, error: errorText(error) }, 'The native balance is omitted');
    return { balance: 0n, isKnown: false };
  }
}
