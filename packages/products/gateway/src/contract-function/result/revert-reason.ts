import type { Hex } from '@chainstead/core';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { type AbiFunction, abiFunction } from '@chainstead/events/decoding';
import { InvalidParameterError } from '@chainstead/http';
import { readTypes } from '../call/read-types.ts';
import { showValue } from './show-outputs.ts';

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
export function revertReason(data: Hex, errors: readonly unknown[]): string | null {
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
