import type { Hex } from '@chainstead/core';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { layoutOf } from '@chainstead/events/decoding';
import { RateLimitedError, UnavailableError } from '@chainstead/http';
import type { DirectAnswer } from '../../index.ts';
import type { RequestedFunction } from '../call/find-function.ts';
import { ContractCallError, ContractCallsOffError } from './contract-call-error.ts';
import { revertReason } from './revert-reason.ts';
import { type ShownValue, showOutputs } from './show-outputs.ts';

const MESSAGE_LENGTH_MAX = 300;

export interface RequestedCall {
  readonly requested: RequestedFunction;
  readonly errors: readonly unknown[];
  readonly chain: string;
}

/** @throws ContractCallError, ContractCallsOffError, RateLimitedError, UnavailableError */
export function readAnswer(answer: DirectAnswer, call: RequestedCall): ShownValue {
  switch (answer.kind) {
    case 'result':
      return returned(answer.value, call);
    case 'error':
      throw failure(answer.error, call);
    case 'rate-limited':
      throw new RateLimitedError(Math.max(1, Math.ceil(answer.retryAfterMs / 1_000)));
    case 'too-long':
      throw new ContractCallError('returned more data than a response can hold');
    case 'unavailable':
      throw new UnavailableError(`No node of ${call.chain} responds at the moment: try again`);
    case 'not-offered':
      throw new ContractCallsOffError(
        `Contracts of ${call.chain} can't be called here: add the chain to CHAINS or GATEWAY_CHAINS and restart`,
        'GATEWAY_CHAINS',
      );
  }
}

function returned(value: unknown, { requested, chain }: RequestedCall): ShownValue {
  if (requested.outputs.length === 0) return null;
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(value))
    throw new UnavailableError(`A node of ${chain} returned an unreadable response: try again`);
  if (value === '0x') throw new ContractCallError('returned no data');
  try {
    return showOutputs(requested.outputs, decodeAbi(layoutOf(requested.outputs), value as Hex));
  } catch (error) {
    if (!(error instanceof EncodingRefusedError)) throw error;
    throw new ContractCallError(`returned data that is not what ${requested.signature} returns`);
  }
}

const REVERTED = 3;

type NodeError = Extract<DirectAnswer, { kind: 'error' }>['error'];

function failure({ code, message, data }: NodeError, { errors }: RequestedCall): ContractCallError {
  const reverted = revertData(data);
  if (reverted !== null) {
    const reason = revertReason(reverted, errors);
    if (reason !== null) return ContractCallError.reverted(reason);
  }
  const [, reported] = /revert(?:ed)?\b[:\s]*(.*)$/is.exec(message) ?? [];
  if (reverted === null && reported === undefined && code !== REVERTED)
    return new ContractCallError(`execution failed: ${message.slice(0, MESSAGE_LENGTH_MAX)}`);
  const ownWords = reported?.trim().slice(0, MESSAGE_LENGTH_MAX) ?? '';
  return ContractCallError.reverted(ownWords === '' ? null : ownWords);
}

/** Hexadecimal text, some nodes' `Reverted 0x…`, or within an object. */
function revertData(data: unknown): Hex | null {
  if (typeof data === 'object' && data !== null && 'data' in data) return revertData(data.data);
  if (typeof data !== 'string') return null;
  const [hex] = /0x(?:[0-9a-f]{2})*$/i.exec(data) ?? [];
  return hex === undefined ? null : (hex.toLowerCase() as Hex);
}
