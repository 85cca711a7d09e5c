import { isAddress } from '@chainstead/core';
import type { RpcErrorBody } from '../json-rpc/json-rpc-reply.ts';
import type { JsonObject } from './chain-source.ts';

/** An eth_getLogs filter after parsing; block bounds as given (numbers, tags or a hash). */
export interface LogFilter {
  readonly blockHash: string | null;
  readonly fromBlock: unknown;
  readonly toBlock: unknown;
  /** Lower case; null: any. */
  readonly addresses: ReadonlySet<string> | null;
  /** By position: alternatives in lower case, or null for any. */
  readonly topics: readonly (ReadonlySet<string> | null)[];
}

const INVALID_PARAMS = -32602;

/** Reads the parameter of eth_getLogs as geth does. */
export function parseLogFilter(param: unknown): LogFilter | { readonly error: RpcErrorBody } {
  if (typeof param !== 'object' || param === null) return invalid('missing value for required argument 0');
  const given = param as JsonObject;
  const blockHash = typeof given.blockHash === 'string' ? given.blockHash.toLowerCase() : null;
  if (blockHash !== null && (given.fromBlock !== undefined || given.toBlock !== undefined))
    return invalid('cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other');
  const addresses = alternatives(given.address);
  if (addresses !== null && ![...addresses].every(isAddress)) return invalid('invalid address');
  const topics = Array.isArray(given.topics) ? given.topics : [];
  if (topics.length > 4) return invalid('exceed max topics');
  return {
    blockHash,
    fromBlock: given.fromBlock,
    toBlock: given.toBlock,
    addresses,
    topics: topics.map(alternatives),
  };
}

/** Whether the log's address and topics match. Positions are compared by EIP-1474: null or an empty list matches anything. */
export function matchesFilter(log: JsonObject, filter: LogFilter): boolean {
  if (filter.addresses !== null && !filter.addresses.has(String(log.address).toLowerCase())) return false;
  const topics = log.topics as readonly string[];
  return filter.topics.every((wanted, position) => {
    if (wanted === null) return position < topics.length;
    const topic = topics[position];
    return topic !== undefined && wanted.has(topic.toLowerCase());
  });
}

function alternatives(given: unknown): ReadonlySet<string> | null {
  if (typeof given === 'string') return new Set([given.toLowerCase()]);
  if (!Array.isArray(given) || given.length === 0) return null;
  return new Set(given.map((one) => String(one).toLowerCase()));
}

function invalid(message: string): { readonly error: RpcErrorBody } {
  return { error: { code: INVALID_PARAMS, message } };
}
