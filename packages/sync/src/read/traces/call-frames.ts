import { type Hash, type Hex, isAddress, parseAddress, parseBigQuantity, parseHash } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';

/**
 * Frames that move value to another account. DELEGATECALL only repeats its caller's value; CALLCODE pays the caller
 * itself.
 */
const MOVING: ReadonlySet<unknown> = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/** The transactions that the traces must belong to. */
export interface TracedTransactions {
  /** All hashes of the block in order, for nodes whose traces have no hash. */
  readonly hashes: readonly Hash[];
  /** Hashes that must be present. */
  readonly executed: ReadonlySet<Hash>;
}

/**
 * Returns the calls of a `debug_traceBlockByHash` response with the callTracer (go-ethereum:
 * eth/tracers/native/call.go): one tree per transaction, in execution order. The transaction itself has an empty path.
 * @throws MalformedAnswerError, InvalidPrimitiveError if they are not traces of this block
 */
export function callsOfFrames(json: unknown, { hashes, executed }: TracedTransactions): InternalTransaction[] {
  if (!Array.isArray(json)) throw new MalformedAnswerError('The response is not a list of traces');
  const inBlock = new Set(hashes);
  const missing = new Set(executed);
  const traced = new Set<Hash>();
  const calls: InternalTransaction[] = [];
  for (const [place, entry] of json.entries()) {
    const { txHash, result } = objectOf(entry);
    const hash = txHash === undefined ? placedHash(hashes, place, json.length) : parseHash(txHash);
    if (!inBlock.has(hash)) throw new MalformedAnswerError(`A trace is of ${hash}, which is not in the block`);
    if (traced.has(hash)) throw new MalformedAnswerError(`There are two traces of ${hash}`);
    traced.add(hash);
    missing.delete(hash);
    collect(result, { hash, place: [], isReverted: false }, calls);
  }
  for (const hash of missing) throw new MalformedAnswerError(`There is no trace of ${hash}`);
  return calls;
}

interface Place {
  readonly hash: Hash;
  readonly place: readonly number[];
  /** Whether a call above it failed, which reverts all calls below. */
  readonly isReverted: boolean;
}

function collect(json: unknown, { hash, place, isReverted }: Place, calls: InternalTransaction[]): void {
  const frame = objectOf(json);
  const type = typeof frame.type === 'string' ? frame.type.toUpperCase() : 'CALL';
  const error = frame.error === undefined || frame.error === null ? null : String(frame.error);
  const isUndone = isReverted || error !== null;
  const moves = MOVING.has(type) && frame.value !== undefined && frame.value !== null;
  calls.push({
    transactionHash: hash,
    traceAddress: place,
    type,
    from: parseAddress(frame.from),
    to: isUndone && !isAddress(frame.to) ? null : parseAddress(frame.to),
    value: moves ? parseBigQuantity(frame.value) : 0n,
    gas: type === 'SELFDESTRUCT' ? null : quantity(frame.gas),
    gasUsed: type === 'SELFDESTRUCT' ? null : quantity(frame.gasUsed),
    input: typeof frame.input === 'string' ? (frame.input as Hex) : '0x',
    output: typeof frame.output === 'string' ? (frame.output as Hex) : '0x',
    error,
    isReverted: isUndone,
  });
  const inner = Array.isArray(frame.calls) ? frame.calls : [];
  for (const [index, call] of inner.entries())
    collect(call, { hash, place: [...place, index], isReverted: isUndone }, calls);
}

function quantity(value: unknown): bigint | null {
  return value === undefined || value === null ? null : parseBigQuantity(value);
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
