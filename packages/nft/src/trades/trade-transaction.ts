import type { Chain } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/token-events';
import type { Erc20Payment, TradeTransaction } from './marketplace.ts';

/** Returns the transfers of one transaction. `logs` are its logs with topics of the dataset, in chain order. */
export function tradeTransaction(logs: readonly Log[], chain: Chain): TradeTransaction {
  return { chain, logs, transfers: decodeNftTransfers(logs, chain).transfers, payments: paymentsOf(logs, chain) };
}

function paymentsOf(logs: readonly Log[], chain: Chain): Erc20Payment[] {
  return logs.flatMap((log): Erc20Payment[] => {
    const transfer = decodeErc20Transfer(log, chain);
    return transfer === null ? [] : [{ log, token: log.address, ...transfer, value: BigInt(transfer.value) }];
  });
}
