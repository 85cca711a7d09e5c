import type { BlockRange } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const BLOCK = words(`
  number hash parent_hash nonce sha3_uncles logs_bloom transactions_root state_root receipts_root miner difficulty
  total_difficulty extra_data size gas_limit gas_used timestamp uncles base_fee_per_gas blob_gas_used excess_blob_gas
  parent_beacon_block_root withdrawals_root withdrawals mix_hash l1_block_number send_count send_root`);
const TRANSACTION = words(`
  block_hash block_number transaction_index hash from to nonce input value gas gas_price max_priority_fee_per_gas
  max_fee_per_gas v r s y_parity chain_id access_list authorization_list type max_fee_per_blob_gas
  blob_versioned_hashes cumulative_gas_used effective_gas_price gas_used contract_address logs_bloom status root
  blob_gas_used blob_gas_price mint source_hash deposit_nonce deposit_receipt_version l1_fee l1_fee_scalar l1_gas_price
  l1_gas_used l1_blob_base_fee l1_blob_base_fee_scalar l1_base_fee_scalar gas_used_for_l1`);
const LOG = words(`
  log_index transaction_index transaction_hash block_hash block_number address data topic0 topic1 topic2 topic3`);

/** Header fields since Pectra and Amsterdam, which HyperSync does not have. */
export const ABSENT_FIELDS: ReadonlySet<string> = new Set(['requestsHash', 'blockAccessListHash', 'slotNumber']);

/** A page ends after the block that reaches one of them. */
const PAGE_LIMITS = { max_num_blocks: 2_000, max_num_transactions: 20_000, max_num_logs: 50_000 };

/** Everything of the request but the range. */
export type HyperSyncSelection = Readonly<Record<string, unknown>> & { readonly include_all_blocks: boolean };

export const WHOLE_BLOCKS: HyperSyncSelection = {
  include_all_blocks: true,
  transactions: [{}],
  logs: [{}],
  join_mode: 'JoinNothing',
  field_selection: { block: BLOCK, transaction: TRANSACTION, log: LOG },
};

/** Blocks of the logs come with them. An empty inner list matches any. */
export function filteredLogs({
  topics,
  indexed = [],
  addresses = [],
}: Omit<LogsQuery, 'range'>): HyperSyncSelection {
  const positions = [topics, ...indexed.map((wanted) => wanted ?? [])];
  const address = addresses.length === 0 ? {} : { address: addresses };
  return {
    include_all_blocks: false,
    logs: [{ ...address, topics: positions }],
    join_mode: 'Default',
    field_selection: { block: ['number', 'hash', 'parent_hash', 'timestamp'], log: LOG },
  };
}

/** `to_block` is exclusive. */
export function queryText(selection: HyperSyncSelection, { from, to }: BlockRange): string {
  return JSON.stringify({ from_block: from, to_block: to + 1, ...selection, ...PAGE_LIMITS });
}
