import type { ChainId } from '@chainstead/core';
import { asSql, joinSql, type Sql, type SqlValue, sql } from '@chainstead/db';
import type {
  AbiItem,
  AdvancedOption,
  NativeBalanceSelector,
  Stream,
  StreamConfig,
  StreamStatus,
  StreamTrigger,
} from '../stream.ts';

/** A row of table `streams` with the `STREAM_COLUMNS`. */
export interface StreamRow {
  readonly id: string;
  readonly webhook_url: string;
  readonly description: string;
  readonly tag: string;
  readonly chain_ids: readonly ChainId[];
  readonly topic0: readonly string[] | null;
  readonly all_addresses: boolean;
  readonly include_native_txs: boolean;
  readonly include_contract_logs: boolean;
  readonly include_internal_txs: boolean;
  readonly include_all_tx_logs: boolean;
  readonly filter_possible_spam_addresses: boolean;
  readonly get_native_balances: readonly NativeBalanceSelector[];
  readonly abi: string | null;
  readonly advanced_options: string | null;
  readonly triggers: string | null;
  readonly demo: boolean;
  readonly send_removed: boolean;
  readonly contracts: readonly string[] | null;
  readonly status: StreamStatus;
  readonly status_message: string;
  readonly amount_of_addresses: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Owner settings. */
export const CONFIG_COLUMNS = [
  'webhook_url',
  'description',
  'tag',
  'chain_ids',
  'topic0',
  'all_addresses',
  'include_native_txs',
  'include_contract_logs',
  'include_internal_txs',
  'include_all_tx_logs',
  'filter_possible_spam_addresses',
  'get_native_balances',
  'abi',
  'advanced_options',
  'triggers',
  'demo',
  'send_removed',
  'contracts',
] as const satisfies readonly (keyof StreamRow)[];

export const STREAM_COLUMNS = sql`id, ${joinSql(CONFIG_COLUMNS.map(asSql))}, status, status_message, amount_of_addresses, created_at, updated_at`;

/** Returns the INSERT of a stream. @param others its columns that are not settings of its owner */
export function insertStatement(config: StreamConfig, others: Readonly<Record<string, SqlValue>>): Sql {
  const columns = Object.entries({ ...configValues(config), ...others });
  return sql`INSERT INTO streams (${joinSql(columns.map(([column]) => asSql(column)))}) VALUES (${joinSql(columns.map(([, value]) => sql`${value}`))})`;
}

/** Returns a configuration as values by column. */
export function configValues(config: StreamConfig): Readonly<Record<(typeof CONFIG_COLUMNS)[number], SqlValue>> {
  return {
    webhook_url: config.webhookUrl,
    description: config.description,
    tag: config.tag,
    chain_ids: config.chainIds,
    topic0: config.topic0,
    all_addresses: config.allAddresses,
    include_native_txs: config.includeNativeTxs,
    include_contract_logs: config.includeContractLogs,
    include_internal_txs: config.includeInternalTxs,
    include_all_tx_logs: config.includeAllTxLogs,
    filter_possible_spam_addresses: config.filterPossibleSpamAddresses,
    get_native_balances: JSON.stringify(config.getNativeBalances),
    abi: jsonOrNull(config.abi),
    advanced_options: jsonOrNull(config.advancedOptions),
    triggers: jsonOrNull(config.triggers),
    demo: config.demo,
    send_removed: config.sendRemoved,
    contracts: config.contracts,
  };
}

export function streamOf(row: StreamRow): Stream {
  return {
    id: row.id,
    webhookUrl: row.webhook_url,
    description: row.description,
    tag: row.tag,
    chainIds: row.chain_ids,
    topic0: row.topic0,
    abi: parsed<AbiItem>(row.abi),
    advancedOptions: parsed<AdvancedOption>(row.advanced_options),
    triggers: parsed<StreamTrigger>(row.triggers),
    getNativeBalances: row.get_native_balances,
    allAddresses: row.all_addresses,
    includeNativeTxs: row.include_native_txs,
    includeContractLogs: row.include_contract_logs,
    includeInternalTxs: row.include_internal_txs,
    includeAllTxLogs: row.include_all_tx_logs,
    filterPossibleSpamAddresses: row.filter_possible_spam_addresses,
    demo: row.demo,
    sendRemoved: row.send_removed,
    contracts: row.contracts,
    status: row.status,
    statusMessage: row.status_message,
    amountOfAddresses: row.amount_of_addresses,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Only `configValues` writes these texts, after validation. */
function parsed<Item>(text: string | null): readonly Item[] | null {
  return text === null ? null : JSON.parse(text);
}
