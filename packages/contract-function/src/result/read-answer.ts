import { decodeAbi, EncodingRefusedError } from '@chainstead/abi';
import type { Hex } from '@chainstead/core';
import { layoutOf } from '@chainstead/decoding';
import type { DirectAnswer } from '@chainstead/gateway';
import { RateLimitedError, UnavailableError } from '@chainstead/http';
import type { RequestedFunction } from '../call/find-function.ts';
import { ContractCallError, ContractCallsOffError } from './contract-call-error.ts';
import { revertReason } from './revert-reason.ts';
import { type ShownValue, showOutputs } from './show-outputs.ts';

/** What of a node's own words is repeated. Characters. */
const MESSAGE_LENGTH_MAX = 300;

/** Context to read a response. */
export interface RequestedCall {
  readonly requested: RequestedFunction;
  /** Entries of the ABI for errors, as the client wrote them. */
  readonly errors: readonly unknown[];
  /** The chain's name. */
  readonly chain: string;
}

/**
 * What the function returned.
 * @throws ContractCallError (400) for a revert, or data that is not what it returns, ContractCallsOffError (400), RateLimitedError (429), UnavailableError
 * (503) where no node answered in time
 */
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
  if (!isHex(value)) throw new UnavailableError(`A node of ${chain} returned an unreadable response: try again`);
  if (value === '0x') throw new ContractCallError('returned no data');
  try {
    return showOutputs(requested.outputs, decodeAbi(layoutOf(requested.outputs), value));
  } catch (error) {
    if (!(error instanceof EncodingRefusedError)) throw error;
    throw new ContractCallError(`returned data that is not what ${requested.signature} returns`);
  }
}

interface NodeError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Geth's code for a revert. */
const REVERTED = 3;

/** A revert, or what else stopped the call in the node's words. */
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

/** The data of a revert: hexadecimal text, some nodes' `Reverted 0x…`, or within an object. null if the node returns none. */
function revertData(data: unknown): Hex | null {
  if (typeof data === 'object' && data !== null && 'data' in data) return revertData(data.data);
  if (typeof data !== 'string') return null;
  const [found] = /0x(?:[0-9a-f]{2})*$/i.exec(data) ?? [];
  return found === undefined ? null : (found.toLowerCase() as Hex);
}

function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value);
}
