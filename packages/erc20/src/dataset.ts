import type { Address, Hex, Log } from '@chainstead/core';
import { type Dataset, type DecodeContext, defineTable, timestampText } from '@chainstead/sync';
import { TRANSFER_TOPIC, transferParties } from '@chainstead/token-events';
import { type Direction, type Erc20TransferRow, erc20Transfers as table } from './schema.ts';
/**
 * ERC-20 transfers, two rows each (one a side), a self-transfer one. Mints and burns have rows for the zero address too.
 *
 * A log is a transfer exactly when it has the standard shape of EIP-20: three topics, the last two of them addresses, and 32
 * bytes of data. Contracts of `chain.erc20Exclusions` emit the shape and mean something else.
 */
export const erc20Transfers: Dataset<Erc20TransferRow> = {
  name: 'erc20-transfers',
  topics: () => [TRANSFER_TOPIC],
  table: defineTable(table, { bulkIndexes: ['erc20_transfers_by_token'] }),
  decode,
  contracts,
};

function decode(logs: readonly Log[], context: DecodeContext): Erc20TransferRow[] {
  const { id: chainId, erc20Exclusions } = context.chain;
  const rows: Erc20TransferRow[] = [];
  let blockNumber = -1;
  let blockTimestamp = '';
  for (const log of logs) {
    const parties = transferParties(log);
    if (parties === null || erc20Exclusions.includes(log.address)) continue;
    if (log.blockNumber !== blockNumber) {
      blockNumber = log.blockNumber;
      blockTimestamp = timestampText(context.timestampOf(blockNumber));
    }
    const { from, to } = parties;
    const value = decimalText(log.data);
    if (from === to) rows.push(side(log, chainId, from, to, 2, value, blockTimestamp));
    else
      rows.push(
        side(log, chainId, from, to, 0, value, blockTimestamp),
        side(log, chainId, to, from, 1, value, blockTimestamp),
      );
  }
  return rows;
}

function side(
  log: Log,
  chainId: number,
  account: Address,
  counterparty: Address,
  direction: Direction,
  value: string,
  blockTimestamp: string,
): Erc20TransferRow {
  return {
    account,
    chainId,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    direction,
    token: log.address,
    counterparty,
    value,
    transactionHash: log.transactionHash,
    blockHash: log.blockHash,
    blockTimestamp,
  };
}

function* contracts(rows: readonly Erc20TransferRow[]): Generator<{ address: Address; standard: 'erc20' }> {
  const seen = new Set<Address>();
  let last: Address | null = null;
  for (const { token } of rows) {
    // The two sides of a transfer are neighbours.
    if (token === last || seen.has(token)) continue;
    last = token;
    seen.add(token);
    yield { address: token, standard: 'erc20' };
  }
}

/** 64 hexadecimal digits as decimal ones. Below 2^52 a number is exact and twice as fast as a BigInt. */
function decimalText(data: Hex): string {
  return data.startsWith(ZEROS_51, 2) ? String(Number.parseInt(data.slice(53), 16)) : BigInt(data).toString();
}

const ZEROS_51 = '0'.repeat(51);
