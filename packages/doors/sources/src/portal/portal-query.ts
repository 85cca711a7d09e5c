import type { BlockRange } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { PortalFields } from './portal-fields.ts';

export type LogFilter = Readonly<Record<string, readonly string[]>>;

export interface PortalSelection {
  readonly fields: PortalFields;
  /** Null: whole blocks. */
  readonly logs: readonly LogFilter[] | null;
}

/** Limits of the Portal. */
export const ITEMS_MAX = 100;
export const QUERY_BYTES_MAX = 262_144;
const ADDRESSES_PER_ITEM = 1_000;
/** Bytes of all other members. */
const RESERVED_BYTES = 8_192;

/** `toBlock` is inclusive. */
export function queryText({ fields, logs }: PortalSelection, { from, to }: BlockRange): string {
  const chosen = Object.fromEntries(
    Object.entries(fields)
      .filter(([, names]) => names.length > 0)
      .map(([table, names]) => [table, Object.fromEntries(names.map((name) => [name, true]))]),
  );
  const rows = logs === null ? { includeAllBlocks: true, transactions: [{}], logs: [{}] } : { logs };
  return JSON.stringify({ type: 'evm', fromBlock: from, toBlock: to, fields: chosen, ...rows });
}

/**
 * An empty list would match nothing: it is left out. Too many addresses are read as all addresses: the reader filters
 * in any case.
 */
export function logFilters({ topics, indexed = [], addresses = [] }: Omit<LogsQuery, 'range'>): LogFilter[] {
  const positions: Record<string, readonly string[]> = {};
  if (topics.length > 0) positions.topic0 = topics;
  for (const [index, wanted] of indexed.entries()) if (wanted !== null) positions[`topic${index + 1}`] = wanted;
  if (addresses.length === 0) return [positions];
  const filters: LogFilter[] = [];
  for (let at = 0; at < addresses.length; at += ADDRESSES_PER_ITEM) {
    const address = addresses.slice(at, at + ADDRESSES_PER_ITEM).map((text) => text.toLowerCase());
    filters.push({ address, ...positions });
  }
  const fits = filters.length <= ITEMS_MAX && JSON.stringify(filters).length <= QUERY_BYTES_MAX - RESERVED_BYTES;
  return fits ? filters : [positions];
}
