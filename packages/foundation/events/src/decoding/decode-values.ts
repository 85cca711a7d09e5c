import type { Hex } from '@chainstead/core';
import type { AbiParameter } from 'viem';
import { encodeAbiParameters } from 'viem/utils';
import { decodeAbi, EncodingRefusedError } from '../abi/index.ts';

const OUTPUT_BYTES_MAX = 262_144;

/** Null for other data. @param isExact data must equal the values' encoding */
export function decodeValues(
  layout: readonly AbiParameter[],
  data: Hex,
  isExact: boolean,
): readonly unknown[] | null {
  try {
    const values: readonly unknown[] = decodeAbi(layout, data, { outputBytesMax: OUTPUT_BYTES_MAX });
    return isExact && encodeAbiParameters(layout, values) !== data ? null : values;
  } catch (error) {
    if (error instanceof EncodingRefusedError) return null;
    throw error;
  }
}
