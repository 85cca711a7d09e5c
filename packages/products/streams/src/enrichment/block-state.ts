import { setMaxListeners } from 'node:events';
import { type Address, defineError, getOrCompute, type Hash, type Hex, parseBigQuantity } from '@chainstead/core';
import { isAnswerOfCall, type UpstreamPool } from '@chainstead/rpc';
import type { TriggerCall } from './trigger-call.ts';

/** Read by block hash (EIP-1898), never from another block with the same number. */
export interface BlockState {
  /** @throws RpcCallError if the call itself fails; UpstreamsExhaustedError, RequestAbortedError */
  call(call: TriggerCall): Promise<Hex>;
  /** Wei. */
  balance(address: Address): Promise<bigint>;
}

export class MalformedStateError extends defineError('STATE_MALFORMED', (method: string, upstream: string) => ({
  message: `${upstream} returned an unexpected value for ${method}`,
  facts: { method, upstream },
  retryable: true,
})) {}

export class AnswerTooLargeError extends defineError('STATE_TOO_LARGE', (bytesMax: number) => ({
  message: `The contract returned more than ${bytesMax} bytes`,
  facts: { limit_bytes: bytesMax },
})) {}

export const ANSWER_BYTES_MAX = 1_048_576;
/** Characters. Larger responses are not cached. */
const KEPT_LENGTH_MAX = 65_536;

export function openBlockState(
  pool: UpstreamPool,
  block: { readonly number: number; readonly hash: Hash },
  signal: AbortSignal,
): BlockState {
  setMaxListeners(0, signal);
  const at = { blockHash: block.hash };
  const options = { signal, minBlock: block.number };
  const calls = new Map<string, Promise<Hex>>();
  const balances = new Map<Address, Promise<bigint>>();
  return {
    call: (call) =>
      getOrCompute(calls, nameOf(call), async () => {
        const { to, data, from } = call;
        const request = from === null ? { to, data } : { from, to, data };
        const { value, upstream } = await pool.request('eth_call', [request, at], options);
        if (!isHex(value)) throw new MalformedStateError('eth_call', upstream);
        if (value.length > KEPT_LENGTH_MAX) calls.delete(nameOf(call));
        if (value.length > 2 + 2 * ANSWER_BYTES_MAX) throw new AnswerTooLargeError(ANSWER_BYTES_MAX);
        return value;
      }),
    balance: (address) =>
      getOrCompute(balances, address, async () => {
        const { value, upstream } = await pool.request('eth_getBalance', [address, at], options);
        if (!isHex(value)) throw new MalformedStateError('eth_getBalance', upstream);
        return parseBigQuantity(value);
      }),
  };
}

export function answerOf(error: unknown): string | null {
  if (isAnswerOfCall(error)) return error.rpcMessage;
  return error instanceof AnswerTooLargeError ? error.message : null;
}

function nameOf({ to, data, from }: TriggerCall): string {
  return `${from ?? ''}>${to}:${data}`;
}

function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value);
}
