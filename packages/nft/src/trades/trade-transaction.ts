import type { Chain } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { decodeNftMovements, transferParties } from '@chainstead/token-events';
import type { Erc20Payment, TradeTransaction } from './marketplace.ts';

/** What moved in one transaction. `logs` are its logs with topics of the dataset, in chain order. */
export function tradeTransaction(logs: readonly Log[], chain: Chain): TradeTransaction {
  return { chain, logs, movements: decodeNftMovements(logs, chain).movements, payments: paymentsOf(logs, chain) };
}

function paymentsOf(logs: readonly Log[], chain: Chain): Erc20Payment[] {
  return logs.flatMap((log): Erc20Payment[] => {
    const parties = transferParties(log);
    if (parties === null || chain.erc20Exclusions.includes(log.address)) return [];
    return [{ log, token: log.address, ...parties, value: BigInt(log.data) }];
  });
}
