import { type Hash, type Hex, isAddress, parseAddress, parseBigQuantity, parseHash } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';

/** DELEGATECALL repeats its caller's value; CALLCODE pays the caller itself. */
const MOVING: ReadonlySet<unknown> = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

export interface TracedTransactions {
  readonly hashes: readonly Hash[];
  readonly executed: ReadonlySet<Hash>;
}

/** go-ethereum: eth/tracers/native/call.go. @throws MalformedAnswerError, InvalidPrimitiveError */
export function callsOfFrames(json: unknown, { hashes, executed }: TracedTransactions): InternalTransaction[] {
  if (!Array.isArray(json)) throw new MalformedAnswerError('The response is not a list of traces');
  const inBlock = new Set(hashes);
  const missing = new Set(executed);
  const traced = new Set<Hash>();
  const calls: InternalTransaction[] = [];
  for (const [index, entry] of json.entries()) {
    const { txHash, result } = traceObject(entry);
    const hash = txHash === undefined ? hashAt(hashes, index, json.length) : parseHash(txHash);
    if (!inBlock.has(hash)) throw new MalformedAnswerError(`A trace is of ${hash}, which is not in the block`);
    if (traced.has(hash)) throw new MalformedAnswerError(`There are two traces of ${hash}`);
    traced.add(hash);
    missing.delete(hash);
    collect(result, hash, [], false, calls);
  }
  for (const hash of missing) throw new MalformedAnswerError(`There is no trace of ${hash}`);
  return calls;
}

/** @param isReverted a call above it failed, which reverts all calls below */
function collect(
  json: unknown,
  hash: Hash,
  path: readonly number[],
  isReverted: boolean,
  calls: InternalTransaction[],
): void {
  const frame = traceObject(json);
  const type = typeof frame.type === 'string' ? frame.type.toUpperCase() : 'CALL';
  const error = frame.error === undefined || frame.error === null ? null : String(frame.error);
  const isUndone = isReverted || error !== null;
  const moves = MOVING.has(type) && frame.value !== undefined && frame.value !== null;
  calls.push({
    transactionHash: hash,
    traceAddress: path,
    type,
    from: parseAddress(frame.from),
    to: isUndone && !isAddress(frame.to) ? null : parseAddress(frame.to),
    value: moves ? parseBigQuantity(frame.value) : 0n,
    gas: type === 'SELFDESTRUCT' ? null : traceQuantity(frame.gas),
    gasUsed: type === 'SELFDESTRUCT' ? null : traceQuantity(frame.gasUsed),
    input: traceHex(frame.input),
    output: traceHex(frame.output),
    error,
    isReverted: isUndone,
  });
  const inner = Array.isArray(frame.calls) ? frame.calls : [];
  for (const [index, call] of inner.entries()) collect(call, hash, [...path, index], isUndone, calls);
}

export function traceQuantity(value: unknown): bigint | null {
  return value === undefined || value === null ? null : parseBigQuantity(value);
}
export function traceHex(value: unknown): Hex {
  return typeof value === 'string' ? (value as Hex) : '0x';
}
function hashAt(hashes: readonly Hash[], index: number, count: number): Hash {
  const hash = hashes[index];
  if (hash === undefined || count !== hashes.length)
    throw new MalformedAnswerError(
      `There are ${count} traces without hashes, the block has ${hashes.length} transactions`,
    );
  return hash;
}

export function traceObject(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null) throw new MalformedAnswerError('A trace is not an object');
  return json as Readonly<Record<string, unknown>>;
}
