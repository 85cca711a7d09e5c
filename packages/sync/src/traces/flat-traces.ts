import { type Hash, parseAddress, parseBigQuantity, parseHash } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { InternalTransfer } from '../block-watcher.ts';
import { ChainMovedError } from '../errors.ts';

type Json = Readonly<Record<string, unknown>>;

/** Whose traces they have to be. */
export interface FlatTracedBlock {
  /** Chain key, for errors. */
  readonly chain: string;
  readonly hash: Hash;
  /** The transactions that have to be there. */
  readonly executed: ReadonlySet<Hash>;
}

/**
 * Internal transfers in the answer of `trace_block` (OpenEthereum's trace module, as Erigon, Nethermind and Reth have it): one
 * list for the whole block, each call with its place in the tree of its transaction.
 * @throws MalformedAnswerError, InvalidPrimitiveError when they are not the traces of a block; ChainMovedError when they are those
 * of another one.
 */
export function transfersOfFlatTraces(
  json: unknown,
  { chain, hash: blockHash, executed }: FlatTracedBlock,
): InternalTransfer[] {
  if (!Array.isArray(json)) throw new MalformedAnswerError('The answer is not a list of traces');
  const missing = new Set(executed);
  const failed = new Set<string>();
  const transfers: InternalTransfer[] = [];
  for (const entry of json) {
    const trace = objectOf(entry);
    if (parseHash(trace.blockHash) !== blockHash)
      throw new ChainMovedError({ chain, what: `block ${String(trace.blockHash)} was traced instead of ${blockHash}` });
    // Rewards belong to no transaction.
    if (trace.transactionHash === undefined || trace.transactionHash === null) continue;
    const hash = parseHash(trace.transactionHash);
    missing.delete(hash);
    const path = pathOf(trace);
    if (trace.error !== undefined && trace.error !== null) failed.add(`${hash}/${path.join('/')}`);
    const transfer = path.length === 0 || isUndone(failed, hash, path) ? null : transferOf(trace, hash);
    if (transfer !== null && transfer.value > 0n) transfers.push(transfer);
  }
  for (const hash of missing) throw new MalformedAnswerError(`There is no trace of ${hash}`);
  return transfers;
}

function pathOf({ traceAddress }: Json): readonly unknown[] {
  if (!Array.isArray(traceAddress)) throw new MalformedAnswerError('A trace has no traceAddress');
  return traceAddress;
}

/** Whether the call or one above it failed. A call comes before those that it makes. */
function isUndone(failed: ReadonlySet<string>, hash: Hash, path: readonly unknown[]): boolean {
  for (let depth = 0; depth <= path.length; depth++)
    if (failed.has(`${hash}/${path.slice(0, depth).join('/')}`)) return true;
  return false;
}

/** Null for what moves nothing to another account: delegate and static calls, CALLCODE. */
function transferOf(trace: Json, transactionHash: Hash): InternalTransfer | null {
  const action = objectOf(trace.action);
  if (trace.type === 'call') return action.callType === 'call' ? movedTo(action.to, action, transactionHash) : null;
  if (trace.type === 'create') return movedTo(objectOf(trace.result).address, action, transactionHash);
  if (trace.type !== 'suicide') return null;
  return {
    transactionHash,
    from: parseAddress(action.address),
    to: parseAddress(action.refundAddress),
    value: parseBigQuantity(action.balance),
    gas: null,
  };
}

function movedTo(to: unknown, action: Json, transactionHash: Hash): InternalTransfer {
  return {
    transactionHash,
    from: parseAddress(action.from),
    to: parseAddress(to),
    value: parseBigQuantity(action.value),
    gas: action.gas === undefined ? null : parseBigQuantity(action.gas),
  };
}

function objectOf(json: unknown): Json {
  if (typeof json !== 'object' || json === null) throw new MalformedAnswerError('A trace is not an object');
  return json as Json;
}
