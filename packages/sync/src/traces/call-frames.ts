import { type Hash, parseAddress, parseBigQuantity, parseHash } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { InternalTransfer } from '../block-watcher.ts';

/** Frames that move value to another account. DELEGATECALL only shows its caller's value; CALLCODE pays the caller itself. */
const MOVING: ReadonlySet<unknown> = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/**
 * Internal transfers in the answer of `debug_traceBlockByHash` with the callTracer (go-ethereum: eth/tracers/native/call.go):
 * one tree of calls for each transaction.
 * @param hashes of the block's transactions in order, for nodes that don't name them
 * @param executed the transactions that have to be there
 * @throws MalformedAnswerError, InvalidPrimitiveError when they are not the traces of this block
 */
export function transfersOfCallFrames(
  json: unknown,
  hashes: readonly Hash[],
  executed: ReadonlySet<Hash>,
): InternalTransfer[] {
  if (!Array.isArray(json)) throw new MalformedAnswerError('The answer is not a list of traces');
  const inBlock = new Set(hashes);
  const missing = new Set(executed);
  const transfers: InternalTransfer[] = [];
  for (const [place, entry] of json.entries()) {
    const { txHash, result } = objectOf(entry);
    const hash = txHash === undefined ? placedHash(hashes, place, json.length) : parseHash(txHash);
    if (!inBlock.has(hash)) throw new MalformedAnswerError(`A trace is of ${hash}, which is not in the block`);
    missing.delete(hash);
    const root = objectOf(result);
    if (root.error === undefined) for (const call of callsOf(root)) collect(call, hash, transfers);
  }
  for (const hash of missing) throw new MalformedAnswerError(`There is no trace of ${hash}`);
  return transfers;
}

/** Depth first, as it was executed. What fails takes everything below it along. */
function collect(json: unknown, transactionHash: Hash, transfers: InternalTransfer[]): void {
  const frame = objectOf(json);
  if (frame.error !== undefined) return;
  const value = MOVING.has(frame.type) && frame.value !== undefined ? parseBigQuantity(frame.value) : 0n;
  if (value > 0n)
    transfers.push({
      transactionHash,
      from: parseAddress(frame.from),
      to: parseAddress(frame.to),
      value,
      gas: frame.gas === undefined || frame.type === 'SELFDESTRUCT' ? null : parseBigQuantity(frame.gas),
    });
  for (const call of callsOf(frame)) collect(call, transactionHash, transfers);
}

function callsOf(frame: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(frame.calls) ? frame.calls : [];
}

function placedHash(hashes: readonly Hash[], place: number, count: number): Hash {
  const hash = hashes[place];
  if (hash === undefined || count !== hashes.length)
    throw new MalformedAnswerError(
      `There are ${count} traces without hashes, the block has ${hashes.length} transactions`,
    );
  return hash;
}

function objectOf(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null) throw new MalformedAnswerError('A trace is not an object');
  return json as Readonly<Record<string, unknown>>;
}
