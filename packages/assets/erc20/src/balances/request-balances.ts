import type { Chain } from '@chainstead/chains';
import type { Address, Logger } from '@chainstead/core';
import { type NodeReadQueue, unlessUnavailable } from '@chainstead/node-reads/requests';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { BALANCES_NOW, type Holding } from './balance-questions.ts';

export interface BalanceRequestSources {
  readonly nodeReads: NodeReadQueue;
  readonly projections: SubjectProjections;
  /** `BALANCE_MAX_AGE_MS`. */
  readonly liveMaxAgeMs: number;
  /** Milliseconds. Age up to which an earlier read is the result. @default 15,000 */
  readonly sharedMs?: number;
}

/** Milliseconds until a fruitless read is repeated. */
const SHARED_MS = 15_000;

/** Late reads serve later requests. @returns whether some finished in time */
export async function requestBalances(
  { nodeReads, projections, liveMaxAgeMs, sharedMs = SHARED_MS }: BalanceRequestSources,
  chain: Chain,
  holdings: readonly Holding[],
  logger: Logger,
): Promise<boolean> {
  const kind = { dataset: erc20Transfers, state: erc20WalletTokens };
  const read = async (wallet: Address, tokens: readonly Address[]): Promise<boolean> => {
    if ((await projections.keep(chain, kind, wallet)) !== 'built') return false;
    const question = { wallet, tokens, liveMaxAgeMs, isPatient: false };
    const asked = nodeReads.request(chain, BALANCES_NOW, question, { maxAgeMs: sharedMs });
    const missing = { message: 'Could not read balances from contracts', chain: chain.key, wallet };
    return (await unlessUnavailable(logger, missing, asked)) !== null;
  };
  const reads = Array.from(
    Map.groupBy(holdings, ({ account }) => account),
    ([account, some]) => {
      const tokens = some.map(({ token }) => token);
      return read(account, tokens);
    },
  );
  return (await Promise.all(reads)).includes(true);
}
