import { setMaxListeners } from 'node:events';
import { type Address, ChainsteadError, type Hash, type Hex, parseBigQuantity } from '@chainstead/core';
import { isAnswerOfCall, type UpstreamPool } from '@chainstead/rpc';
import type { TriggerCall } from './trigger-call.ts';

/** A chain's state after one block, asked by the block's hash (EIP-1898): another block of the same number never answers. */
export interface BlockState {
  /** @throws RpcCallError when the call itself fails; UpstreamsExhaustedError, RequestAbortedError when no node answers. */
  call(call: TriggerCall): Promise<Hex>;
  /** Wei. Throws as `call`. */
  balance(address: Address): Promise<bigint>;
}

/** A node's answer is nothing that the method may answer. */
export class MalformedStateError extends ChainsteadError {
  constructor(method: string, upstream: string) {
    super({
      code: 'STATE_MALFORMED',
      message: `${upstream} answered ${method} with an unexpected value`,
      facts: { method, upstream },
      retryable: true,
    });
  }
}

export interface BlockStateOptions {
  readonly pool: UpstreamPool;
  readonly block: { readonly number: number; readonly hash: Hash };
  readonly signal: AbortSignal;
}

/** A contract answered more than anything could be shown of. */
export class AnswerTooLargeError extends ChainsteadError {
  constructor(bytesMax: number) {
    super({
      code: 'STATE_TOO_LARGE',
      message: `The contract answered more than ${bytesMax} bytes`,
      facts: { limit_bytes: bytesMax },
      retryable: false,
    });
  }
}

/** Bytes of a call's answer. */
export const ANSWER_BYTES_MAX = 1_048_576;
/** Larger answers are read again when they are asked for again. Characters. */
const KEPT_LENGTH_MAX = 65_536;

/** What is asked twice is read once. */
export function openBlockState({ pool, block, signal }: BlockStateOptions): BlockState {
  // One listener for each call under way.
  setMaxListeners(0, signal);
  const at = { blockHash: block.hash };
  const options = { signal, minBlock: block.number };
  const calls = new Map<string, Promise<Hex>>();
  const balances = new Map<Address, Promise<bigint>>();
  return {
    call: (call) =>
      once(calls, nameOf(call), async () => {
        const { to, data, from } = call;
        const request = from === null ? { to, data } : { from, to, data };
        const { value, upstream } = await pool.request('eth_call', [request, at], options);
        if (!isHex(value)) throw new MalformedStateError('eth_call', upstream);
        if (value.length > KEPT_LENGTH_MAX) calls.delete(nameOf(call));
        if (value.length > 2 + 2 * ANSWER_BYTES_MAX) throw new AnswerTooLargeError(ANSWER_BYTES_MAX);
        return value;
      }),
    balance: (address) =>
      once(balances, address, async () => {
        const { value, upstream } = await pool.request('eth_getBalance', [address, at], options);
        if (!isHex(value)) throw new MalformedStateError('eth_getBalance', upstream);
        return parseBigQuantity(value);
      }),
  };
}

/** What a node that looked says of a call that failed; null for anything else, which may be another answer later. */
export function answerOf(error: unknown): string | null {
  if (isAnswerOfCall(error)) return error.rpcMessage;
  return error instanceof AnswerTooLargeError ? error.message : null;
}

function nameOf({ to, data, from }: TriggerCall): string {
  return `${from ?? ''}>${to}:${data}`;
}

function once<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, read: () => Promise<Value>): Promise<Value> {
  const found = known.get(key) ?? read();
  known.set(key, found);
  return found;
}

function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value);
}
