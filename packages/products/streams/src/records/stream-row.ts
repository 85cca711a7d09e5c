import { asSql, joinSql, type Sql, type SqlValue, sql } from '@chainstead/db';
import type { Stream, StreamConfig } from '../stream.ts';

type JsonText = 'abi' | 'advancedOptions' | 'triggers';

export type StoredStream = Omit<Stream, JsonText> & Readonly<Record<JsonText, string | null>>;

const CONFIG_MEMBERS = [
  'webhookUrl',
  'description',
  'tag',
  'chainIds',
  'topic0',
  'allAddresses',
  'includeNativeTxs',
  'includeContractLogs',
  'includeInternalTxs',
  'includeAllTxLogs',
  'filterPossibleSpamAddresses',
  'getNativeBalances',
  'abi',
  'advancedOptions',
  'triggers',
  'demo',
  'sendRemoved',
  'contracts',
] as const satisfies readonly (keyof StreamConfig)[];

const OTHER_MEMBERS = ['status', 'statusMessage', 'amountOfAddresses', 'createdAt', 'updatedAt'] as const;

function columnOf(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const CONFIG_COLUMNS = CONFIG_MEMBERS.map(columnOf);

export const STREAM_COLUMNS = asSql(['id', ...CONFIG_MEMBERS, ...OTHER_MEMBERS].map(columnOf).join(', '));

export function insertStatement(config: StreamConfig, others: Readonly<Record<string, SqlValue>>): Sql {
  const columns = Object.entries({ ...configValues(config), ...others });
  return sql`INSERT INTO streams (${joinSql(columns.map(([column]) => asSql(column)))}) VALUES (${joinSql(columns.map(([, value]) => sql`${value}`))})`;
}

export function configValues(config: StreamConfig): Readonly<Record<string, SqlValue>> {
  const values = {
    ...config,
    getNativeBalances: JSON.stringify(config.getNativeBalances),
    abi: jsonOrNull(config.abi),
    advancedOptions: jsonOrNull(config.advancedOptions),
    triggers: jsonOrNull(config.triggers),
  };
  return Object.fromEntries(CONFIG_MEMBERS.map((member) => [columnOf(member), values[member]]));
}

export function streamOf({ abi, advancedOptions, triggers, ...stored }: StoredStream): Stream {
  return { ...stored, abi: parsed(abi), advancedOptions: parsed(advancedOptions), triggers: parsed(triggers) };
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Unchecked: `configValues` wrote the text after validation. */
function parsed<Item>(text: string | null): readonly Item[] | null {
  return text === null ? null : JSON.parse(text);
}
