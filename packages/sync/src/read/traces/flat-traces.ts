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

type Json = Readonly<Record<string, unknown>>;

/** The block that the traces must belong to. */
export interface FlatTracedBlock {
  /** Chain key, for errors. */
  readonly chain: string;
  readonly hash: Hash;
  /** Hashes that must be present. */
  readonly executed: ReadonlySet<Hash>;
}

/**
 * Returns the calls of a `trace_block` response (OpenEthereum's trace module, as in Erigon, Nethermind and Reth): one
 * list per block, in execution order. The transaction itself has an empty path.
 * @throws MalformedAnswerError, InvalidPrimitiveError if they are not traces of a block; ReorgedWhileReadingError if
 * they belong to another one.
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
    const trace = objectOf(entry);
    if (parseHash(trace.blockHash) !== blockHash)
      throw new ReorgedWhileReadingError({
        chain,
        what: `block ${String(trace.blockHash)} was traced instead of ${blockHash}`,
      });
    // Rewards belong to no transaction.
    if (trace.transactionHash === undefined || trace.transactionHash === null) continue;
    const hash = parseHash(trace.transactionHash);
    missing.delete(hash);
    const place = placeOf(trace);
    const error = trace.error === undefined || trace.error === null ? null : failureOf(String(trace.error));
    if (error !== null) failed.add(`${hash}/${place.join('/')}`);
    const call = callOf(trace, { isReverted: isUndone(failed, hash, place) });
    if (call !== null) calls.push({ ...call, transactionHash: hash, traceAddress: place, error });
  }
  for (const hash of missing) throw new MalformedAnswerError(`There is no trace of ${hash}`);
  return calls;
}

/** Error texts mapped to those of the callTracer. */
const FAILURES: Readonly<Record<string, string>> = {
  Reverted: 'execution reverted',
  'Out of gas': 'out of gas',
  'Bad jump destination': 'invalid jump destination',
  'Out of stack': 'stack limit reached',
};

function failureOf(text: string): string {
  return FAILURES[text] ?? text;
}

function placeOf({ traceAddress }: Json): readonly number[] {
  if (!Array.isArray(traceAddress) || !traceAddress.every((one) => Number.isSafeInteger(one)))
    throw new MalformedAnswerError('A trace has no traceAddress');
  return traceAddress;
}

/** Returns whether the call or one above it failed. Callers come before their calls. */
function isUndone(failed: ReadonlySet<string>, hash: Hash, place: readonly number[]): boolean {
  if (failed.size === 0) return false;
  for (let depth = 0; depth <= place.length; depth++)
    if (failed.has(`${hash}/${place.slice(0, depth).join('/')}`)) return true;
  return false;
}

type Call = Omit<InternalTransaction, 'transactionHash' | 'traceAddress' | 'error'>;

/** Returns null for traces other than calls. */
function callOf(trace: Json, { isReverted }: Pick<Call, 'isReverted'>): Call | null {
  const action = objectOf(trace.action);
  if (trace.type === 'call') {
    const type = typeof action.callType === 'string' ? action.callType.toUpperCase() : 'CALL';
    // Delegate calls, static calls and CALLCODE move nothing to another account.
    const value = type === 'CALL' ? parseBigQuantity(action.value) : 0n;
    const output = hexOf(resultOf(trace).output);
    return { ...made(trace, { isReverted }), type, to: recipient(action.to, { isReverted }), value, output };
  }
  if (trace.type === 'create') {
    const type = action.creationMethod === 'create2' ? 'CREATE2' : 'CREATE';
    const { address: created, code, output = code } = resultOf(trace);
    const to = recipient(created, { isReverted });
    const value = parseBigQuantity(action.value);
    return { ...made(trace, { isReverted }), type, to, value, input: hexOf(action.init), output: hexOf(output) };
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

function made(
  trace: Json,
  { isReverted }: Pick<Call, 'isReverted'>,
): Pick<Call, 'from' | 'gas' | 'gasUsed' | 'input' | 'isReverted'> {
  const action = objectOf(trace.action);
  const gas = action.gas === undefined ? null : parseBigQuantity(action.gas);
  const { gasUsed } = resultOf(trace);
  return {
    from: parseAddress(action.from),
    gas,
    gasUsed: gasUsed === undefined || gasUsed === null ? null : parseBigQuantity(gasUsed),
    input: hexOf(action.input),
    isReverted,
  };
}

/** A failed call may have no result. */
function resultOf({ result }: Json): Json {
  return typeof result === 'object' && result !== null ? (result as Json) : {};
}

/** A failed creation may have no address. */
function recipient(to: unknown, { isReverted }: Pick<Call, 'isReverted'>): Address | null {
  return isReverted && !isAddress(to) ? null : parseAddress(to);
}

function hexOf(value: unknown): Hex {
  return typeof value === 'string' ? (value as Hex) : '0x';
}

function objectOf(json: unknown): Json {
  if (typeof json !== 'object' || json === null) throw new MalformedAnswerError('A trace is not an object');
  return json as Json;
}
