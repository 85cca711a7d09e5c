import {
  type Address,
  type Hash,
  type Hex,
  isAddress,
  parseAddress,
  parseBigQuantity,
  parseHash,
} from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { InternalTransaction } from '../../dataset/whole-block.ts';
import { ReorgedWhileReadingError } from '../../errors.ts';

/** DELEGATECALL repeats its caller's value; CALLCODE pays the caller itself. */
const MOVING: ReadonlySet<unknown> = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

interface TracedTransactions {
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

function traceQuantity(value: unknown): bigint | null {
  return value === undefined || value === null ? null : parseBigQuantity(value);
}
function traceHex(value: unknown): Hex {
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

function traceObject(json: unknown): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null) throw new MalformedAnswerError('A trace is not an object');
  return json as Readonly<Record<string, unknown>>;
}

type Json = Readonly<Record<string, unknown>>;

interface FlatTracedBlock {
  readonly chain: string;
  readonly hash: Hash;
  readonly executed: ReadonlySet<Hash>;
}

/**
 * OpenEthereum's trace module, as in Erigon, Nethermind and Reth.
 * @throws MalformedAnswerError, InvalidPrimitiveError; ReorgedWhileReadingError for another block
 */
export function callsOfFlatTraces(
  json: unknown,
  { chain, hash: blockHash, executed }: FlatTracedBlock,
): InternalTransaction[] {
  if (!Array.isArray(json)) throw new MalformedAnswerError('The response is not a list of traces');
  const missing = new Set(executed);
  const failed = new Set<string>();
  const calls: InternalTransaction[] = [];
  for (const entry of json) {
    const trace = traceObject(entry);
    const what = `block ${String(trace.blockHash)} was traced instead of ${blockHash}`;
    if (parseHash(trace.blockHash) !== blockHash) throw new ReorgedWhileReadingError({ chain, what });
    // Rewards belong to no transaction.
    if (trace.transactionHash === undefined || trace.transactionHash === null) continue;
    const hash = parseHash(trace.transactionHash);
    missing.delete(hash);
    const { traceAddress } = trace;
    if (!Array.isArray(traceAddress) || !traceAddress.every((index) => Number.isSafeInteger(index)))
      throw new MalformedAnswerError('A trace has no traceAddress');
    const text = trace.error === undefined || trace.error === null ? null : String(trace.error);
    const error = text === null ? null : (FAILURES[text] ?? text);
    if (error !== null) failed.add(`${hash}/${traceAddress.join('/')}`);
    const call = callOf(trace, isUndone(failed, hash, traceAddress));
    if (call !== null) calls.push({ ...call, transactionHash: hash, traceAddress, error });
  }
  for (const hash of missing) throw new MalformedAnswerError(`There is no trace of ${hash}`);
  return calls;
}

const FAILURES: Readonly<Record<string, string>> = {
  Reverted: 'execution reverted',
  'Out of gas': 'out of gas',
  'Bad jump destination': 'invalid jump destination',
  'Out of stack': 'stack limit reached',
};

function isUndone(failed: ReadonlySet<string>, hash: Hash, path: readonly number[]): boolean {
  if (failed.size === 0) return false;
  for (let depth = 0; depth <= path.length; depth++)
    if (failed.has(`${hash}/${path.slice(0, depth).join('/')}`)) return true;
  return false;
}

type Call = Omit<InternalTransaction, 'transactionHash' | 'traceAddress' | 'error'>;

/** Null for traces other than calls. */
function callOf(trace: Json, isReverted: boolean): Call | null {
  const action = traceObject(trace.action);
  if (trace.type === 'call') {
    const type = typeof action.callType === 'string' ? action.callType.toUpperCase() : 'CALL';
    // Other types move nothing to another account.
    const value = type === 'CALL' ? parseBigQuantity(action.value) : 0n;
    const output = traceHex(resultOf(trace).output);
    return { ...madeBy(trace), isReverted, type, to: recipient(action.to, isReverted), value, output };
  }
  if (trace.type === 'create') {
    const type = action.creationMethod === 'create2' ? 'CREATE2' : 'CREATE';
    const result = resultOf(trace);
    const { address: created, output = result.code } = result;
    const to = recipient(created, isReverted);
    const value = parseBigQuantity(action.value);
    const code = { input: traceHex(action.init), output: traceHex(output) };
    return { ...madeBy(trace), isReverted, type, to, value, ...code };
  }
  if (trace.type !== 'suicide') return null;
  return {
    type: 'SELFDESTRUCT',
    from: parseAddress(action.address),
    to: parseAddress(action.refundAddress),
    value: parseBigQuantity(action.balance),
    gas: null,
    gasUsed: null,
    input: '0x',
    output: '0x',
    isReverted,
  };
}

function madeBy(trace: Json) {
  const action = traceObject(trace.action);
  const gas = action.gas === undefined ? null : parseBigQuantity(action.gas);
  const gasUsed = traceQuantity(resultOf(trace).gasUsed);
  return { from: parseAddress(action.from), gas, gasUsed, input: traceHex(action.input) };
}

function resultOf({ result }: Json): Json {
  return typeof result === 'object' && result !== null ? (result as Json) : {};
}

function recipient(to: unknown, isReverted: boolean): Address | null {
  return isReverted && !isAddress(to) ? null : parseAddress(to);
}
