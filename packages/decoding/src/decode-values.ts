import { decodeAbi, EncodingRefusedError } from '@chainstead/abi';
import type { Hex } from '@chainstead/core';
import { type AbiParameter, encodeAbiParameters } from 'viem';

/** What arguments of one call or event may take as values. Bytes. */
const OUTPUT_BYTES_MAX = 262_144;

/**
 * The values of types in data; null where it holds none.
 * @param isExact whether the data must be what the values encode to: nothing left over, no other way to write them
 */
export function decodeValues(layout: readonly AbiParameter[], data: Hex, isExact: boolean): readonly unknown[] | null {
  try {
    const values: readonly unknown[] = decodeAbi(layout, data, { outputBytesMax: OUTPUT_BYTES_MAX });
    return isExact && encodeAbiParameters(layout, values) !== data ? null : values;
  } catch (error) {
    // Data of another shape: that is the answer.
    if (error instanceof EncodingRefusedError) return null;
    throw error;
  }
}
