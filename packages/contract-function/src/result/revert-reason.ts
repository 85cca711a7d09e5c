import { decodeAbi, EncodingRefusedError } from '@chainstead/abi';
import type { Hex } from '@chainstead/core';
import { type AbiFunction, type AbiType, abiFunction } from '@chainstead/decoding';
import { InvalidParameterError } from '@chainstead/http';
import { readTypes } from '../call/read-types.ts';
import { showValue } from './show-outputs.ts';

/** Contracts write reasons, of any length. Characters. */
const REASON_LENGTH_MAX = 500;
const SELECTOR_LENGTH = 10;

const ERROR = abiFunction('Error', [{ name: '', type: 'string' }]);
const PANIC = abiFunction('Panic', [{ name: '', type: 'uint256' }]);

/** Of Solidity. */
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

/**
 * Returns the reason of a revert from its data: the text of `require`, Solidity's panics, errors of the ABI. null if the data has
 * no reason.
 * @param errors entries of an ABI, as the client wrote them
 */
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
  if (typeof code === 'bigint') return panicText(code);
  for (const [place, entry] of errors.entries()) {
    const error = errorOf(entry, place);
    if (error?.selector !== selector) continue;
    const values = valuesOf(error, data);
    if (values !== null) return errorText(error, values);
  }
  return `0x${data.slice(2, SELECTOR_LENGTH)} (an error that the ABI does not have)`;
}

function panicText(code: bigint): string {
  const meaning = PANICS.get(code.toString());
  return `panic 0x${code.toString(16)}${meaning === undefined ? '' : ` (${meaning})`}`;
}

/** `InsufficientBalance(3, 10)` */
function errorText({ name, inputs }: AbiFunction, values: readonly unknown[]): string {
  return `${name}(${inputs.map((input, place) => argumentText(input, values[place])).join(', ')})`;
}

function argumentText(type: AbiType, value: unknown): string {
  const shown = showValue(type, value);
  return typeof shown === 'string' && type.type !== 'string' ? shown : JSON.stringify(shown);
}

/** Null for an entry that is no error, or none that can be read. */
function errorOf(entry: unknown, place: number): AbiFunction | null {
  const { type, name, inputs }: { type?: unknown; name?: unknown; inputs?: unknown } = Object(entry);
  if (type !== 'error' || typeof name !== 'string') return null;
  try {
    return abiFunction(name, readTypes(inputs, `abi.${place}.inputs`));
  } catch (error) {
    // The requested function is another entry.
    if (error instanceof InvalidParameterError) return null;
    throw error;
  }
}

/** Null for what is not encoded so. */
function valuesOf({ layout }: AbiFunction, data: Hex): readonly unknown[] | null {
  if (layout.length === 0) return [];
  try {
    return decodeAbi(layout, `0x${data.slice(SELECTOR_LENGTH)}`);
  } catch (error) {
    if (error instanceof EncodingRefusedError) return null;
    throw error;
  }
}
