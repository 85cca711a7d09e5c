import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ApiDependencies } from '@chainstead/http';
import { getNativeBalances, type NativeBalancesOptions } from '@chainstead/node-reads/native-balances';
import { unlessUnavailable } from '@chainstead/node-reads/requests';

/** After a block; null: newest. Base units; 0 and not known if no node answered in time. */
export async function nativeOf(
  options: NativeBalancesOptions,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  chain: Chain,
  { wallet, toBlock }: { readonly wallet: Address; readonly toBlock: number | null },
): Promise<{ readonly balance: bigint; readonly isKnown: boolean }> {
  const read = getNativeBalances(options, database, chain, { addresses: [wallet], toBlock });
  const missing = { message: 'The native balance is omitted', chain: chain.key, wallet };
  const native = await unlessUnavailable(logger, missing, read);
  return { balance: BigInt(native?.balances[0] ?? 0), isKnown: native !== null };
}
