import type { Hex } from '@chainstead/core';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { type AbiFunction, abiFunction, layoutOf } from '@chainstead/events/decoding';
import { InvalidParameterError, RateLimitedError, UnavailableError } from '@chainstead/http';
import type { DirectAnswer } from '../../index.ts';
import type { RequestedFunction } from '../call/find-function.ts';
import { readTypes } from '../call/read-types.ts';
import { ContractCallError, ContractCallsOffError } from './contract-call-error.ts';
import { type ShownValue, showOutputs, showValue } from './show-outputs.ts';

const MESSAGE_LENGTH_MAX = 300;

interface RequestedCall {
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

const REASON_LENGTH_MAX = 500;
const SELECTOR_LENGTH = 10;

const ERROR = abiFunction('Error', [{ name: '', type: 'string' }]);
const PANIC = abiFunction('Panic', [{ name: '', type: 'uint256' }]);

const PANICS: ReadonlyMap<string, string> = new Map([
  ['1', 'assertion failed'],
  ['17', 'arithmetic overflow or underflow'],
  ['18', 'division by zero'],
  ['33', 'value that is no member of its enumeration'],
  ['34', 'storage that is encoded wrongly'],
  ['49', 'pop of an empty array'],
  ['50', 'index out of bounds'],
  ['65', 'too much memory'],
  ['81', 'call of a function that was not set'],
]);

/** From `require`, Solidity's panics and errors of the client's ABI; null: none. */
function revertReason(data: Hex, errors: readonly unknown[]): string | null {
  const reason = reasonIn(data, errors);
  if (reason === null || reason === '') return null;
  return reason.length > REASON_LENGTH_MAX ? `${reason.slice(0, REASON_LENGTH_MAX)}…` : reason;
}

function reasonIn(data: Hex, errors: readonly unknown[]): string | null {
  if (data.length < SELECTOR_LENGTH) return null;
  const selector = data.slice(0, SELECTOR_LENGTH);
  const [text] = selector === ERROR.selector ? (valuesOf(ERROR, data) ?? []) : [];
  if (typeof text === 'string') return text;
  const [code] = selector === PANIC.selector ? (valuesOf(PANIC, data) ?? []) : [];
  if (typeof code === 'bigint') {
    const meaning = PANICS.get(code.toString());
    return `panic 0x${code.toString(16)}${meaning === undefined ? '' : ` (${meaning})`}`;
  }
  for (const [index, entry] of errors.entries()) {
    const error = errorOf(entry, index);
    if (error?.selector !== selector) continue;
    const values = valuesOf(error, data);
    if (values !== null) return errorText(error, values);
  }
  return `0x${data.slice(2, SELECTOR_LENGTH)} (an error that the ABI does not have)`;
}

/** `InsufficientBalance(3, 10)` */
function errorText({ name, inputs }: AbiFunction, values: readonly unknown[]): string {
  const texts = inputs.map((input, index) => {
    const shown = showValue(input, values[index]);
    return typeof shown === 'string' && input.type !== 'string' ? shown : JSON.stringify(shown);
  });
  return `${name}(${texts.join(', ')})`;
}

/** Null: no error, or unreadable. */
function errorOf(entry: unknown, index: number): AbiFunction | null {
  const { type, name, inputs }: Readonly<Record<string, unknown>> = Object(entry);
  if (type !== 'error' || typeof name !== 'string') return null;
  try {
    return abiFunction(name, readTypes(inputs, `abi.${index}.inputs`));
  } catch (error) {
    if (error instanceof InvalidParameterError) return null;
    throw error;
  }
}

function valuesOf({ layout }: AbiFunction, data: Hex): readonly unknown[] | null {
  if (layout.length === 0) return [];
  try {
    return decodeAbi(layout, `0x${data.slice(SELECTOR_LENGTH)}`);
  } catch (error) {
    if (error instanceof EncodingRefusedError) return null;
    throw error;
  }
}
