import type { Address, ChainId, Log } from '@chainstead/core';
import { addressKey, DIRECTION, type Direction } from '@chainstead/db/column-types';
import type { Erc20Transfer } from '@chainstead/events/token-events';
import type { Erc20TransferRow } from './schema.ts';

export function addSides(rows: Erc20TransferRow[], log: Log, chainId: ChainId, transfer: Erc20Transfer): void {
  const { from, to, value } = transfer;
  if (from === to) rows.push(side(log, chainId, from, to, DIRECTION.self, value));
  else
    rows.push(
      side(log, chainId, from, to, DIRECTION.sent, value),
      side(log, chainId, to, from, DIRECTION.received, value),
    );
}

// biome-ignore lint/complexity/useMaxParams: called for each transfer of a backfill: one literal, no object around its values.
function side(
  log: Log,
  chainId: number,
  account: Address,
  counterparty: Address,
  direction: Direction,
  value: string,
): Erc20TransferRow {
  return {
    accountKey: addressKey(account),
    chainId,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    direction,
    account,
    token: log.address,
    counterparty,
    value,
    transactionHash: log.transactionHash,
  };
}
