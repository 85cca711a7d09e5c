import type { Chain } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { committedBlock, knownBlock, type StateBlock } from '../committed-block.ts';
import { stateAt } from '../state-at.ts';
import { StateUnavailableError } from '../state-error.ts';
import type { StateReader } from '../state-kind.ts';
import {
  type NativeBalancesAnswer,
  type NativeBalancesQuestion,
  nativeBalancesKind,
} from './native-balances-kind.ts';
import { saveNativeBalances } from './stored-native-balances.ts';

/** Fees and transfers by contracts leave no logs, so no sum of transfers is right. */
export const nativeBalancesReader: StateReader<NativeBalancesQuestion, NativeBalancesAnswer> = {
  kind: nativeBalancesKind,
  async read({ chain, pool, database }, { addresses, to_block: toBlock }, signal) {
    const newest = await committedBlock(database, chain);
    if (newest === null) throw new StateUnavailableError(`No block of ${chain.name} is indexed yet`);
    const isNewest = toBlock === null || toBlock >= newest.number;
    const block = isNewest ? newest : await blockAt({ chain, pool, database }, toBlock, signal);
    const accounts = addresses.map(parseAddress);
    const balances = (await stateAt(pool, chain, block).balances(accounts, signal)).map(String);
    if (isNewest) await saveNativeBalances(database, chain.id, block, accounts, balances);
    return { block, balances };
  },
};

async function blockAt(
  { chain, pool, database }: { readonly chain: Chain; readonly pool: UpstreamPool; readonly database: Database },
  number: number,
  signal: AbortSignal,
): Promise<StateBlock> {
  const stored = await knownBlock(database, chain, number);
  if (stored !== null) return stored;
  const [header] = await pool.getHeaders([number], { signal });
  if (header === undefined) throw new StateUnavailableError(`No upstream of ${chain.name} has block ${number}`);
  return { number, hash: header.value.hash, timestamp: header.value.timestamp };
}
