import type { Hex } from '@chainstead/core';
import type { AbiParameter, DecodeAbiParametersReturnType } from 'viem';
import { type AbiShape, type ShapedParameter, shapeOf } from './abi-shape.ts';
import { EncodingRefusedError } from './encoding-refused.ts';
import { measureEncoding } from './measure-encoding.ts';
import { readValues } from './read-values.ts';

export interface DecodeAbiOptions {
  /** Bytes that the decoded values may take (see {@link measureEncoding}). Default 1 MiB. */
  readonly outputBytesMax?: number;
  /** What to do with values that share bytes. Default `allow`: their cost is bounded all the same. */
  readonly overlaps?: 'allow' | 'refuse';
}

/** Decoded values, and what they take. */
export interface DecodedAbi<Values> {
  readonly values: Values;
  readonly outputBytes: number;
}

const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * The values that a stranger's data encodes, as viem's types have them, addresses in lower case. A few hundred kilobytes whose offsets point at one
 * value would decode to gigabytes, so what comes out is measured before anything is decoded. Words that no value of their type encodes to are refused.
 * @throws EncodingRefusedError
 */
export function decodeAbi<const Parameters extends readonly AbiParameter[]>(
  parameters: Parameters,
  data: Hex,
  options: DecodeAbiOptions = {},
): DecodeAbiParametersReturnType<Parameters> {
  return decodeMeasured(parameters, data, options).values;
}

/** As above, telling what the values take, for whoever keeps many of them. */
export function decodeMeasured<const Parameters extends readonly AbiParameter[]>(
  parameters: Parameters,
  data: Hex,
  { outputBytesMax = OUTPUT_BYTES_MAX, overlaps = 'allow' }: DecodeAbiOptions = {},
): DecodedAbi<DecodeAbiParametersReturnType<Parameters>> {
  const bytes = bytesOf(data);
  const limits = { outputBytesMax, mayOverlap: overlaps === 'allow' };
  const shapes = shapesOf(parameters);
  const outputBytes = measureEncoding(shapes, bytes, limits);
  const values: readonly unknown[] = readValues(shapes, data.toLowerCase());
  return { values: values as DecodeAbiParametersReturnType<Parameters>, outputBytes };
}

const known = new WeakMap<readonly ShapedParameter[], readonly AbiShape[]>();

/** Worked out once: events are decoded by the thousand. */
function shapesOf(parameters: readonly ShapedParameter[]): readonly AbiShape[] {
  const shapes = known.get(parameters) ?? parameters.map((parameter) => shapeOf(parameter));
  known.set(parameters, shapes);
  return shapes;
}

function bytesOf(data: Hex): Buffer {
  const bytes = Buffer.from(data.slice(2), 'hex');
  if (2 * bytes.length !== data.length - 2) throw new EncodingRefusedError('it is not whole bytes in hexadecimal');
  return bytes;
}
