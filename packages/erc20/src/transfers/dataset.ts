import type { Address, Log } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import { type Dataset, type DecodeContext, defineTable } from '@chainstead/sync';
import { decodeErc20Transfer, TRANSFER_TOPIC } from '@chainstead/token-events';
import { type Direction, type Erc20TransferRow, FORMER_TABLE, erc20Transfers as table } from './schema.ts';
import { erc20TokenHolders } from './token-holders.ts';
import { erc20TokenCounts } from './token-stats/token-counts.ts';
import { erc20Histories } from './wallet-history-filters.ts';
import { erc20WalletTokens } from './wallet-tokens.ts';

/**
 * ERC-20 transfers, two rows each (one a side), a self-transfer one. Mints and burns have rows for the zero address too.
 */
export const erc20Transfers: Dataset<Erc20TransferRow> = {
  name: 'erc20-transfers',
  topics: () => [TRANSFER_TOPIC],
  table: defineTable(table, {
    bulkIndexes: ['erc20_transfers_by_token', 'erc20_transfers_by_contract'],
    isPartitioned: true,
    former: {
      table: FORMER_TABLE,
      all: 'erc20_transfers_all',
      key: ['account', 'chain_id', 'block_number', 'transaction_index', 'log_index'],
      columns: { account_key: 'address_key(account)' },
    },
  }),
  decode,
  contracts,
  kept: [erc20WalletTokens, erc20TokenCounts, erc20TokenHolders],
  histories: erc20Histories,
};

function decode(logs: readonly Log[], { chain }: DecodeContext): Erc20TransferRow[] {
  const rows: Erc20TransferRow[] = [];
  for (const log of logs) {
    const transfer = decodeErc20Transfer(log, chain);
    if (transfer === null) continue;
    const { from, to, value } = transfer;
    if (from === to) rows.push(side(log, chain.id, from, to, 2, value));
    else rows.push(side(log, chain.id, from, to, 0, value), side(log, chain.id, to, from, 1, value));
  }
  return rows;
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
