import type { Hex } from '@chainstead/core';
import type { AbiParameter, DecodeAbiParametersReturnType } from 'viem';
import {
  type AbiShape,
  type ArrayShape,
  type ShapedParameter,
  shapeOf,
  type TupleShape,
  WORD_BYTES,
} from './abi-shape.ts';
import { lengthAt } from './abi-words.ts';
import { EncodingRefusedError } from './encoding-refused.ts';
import { measureEncoding } from './measure-encoding.ts';
import { type LeafValue, readLeaf } from './read-leaf.ts';

export interface DecodeAbiOptions {
  /** See {@link measureEncoding}. @default 1 MiB */
  readonly outputBytesMax?: number;
  /** Values sharing bytes; their cost is bounded anyway. @default `allow` */
  readonly overlaps?: 'allow' | 'refuse';
}

const OUTPUT_BYTES_MAX = 1_048_576;

/** Measured first: offsets to one value could make gigabytes. @throws EncodingRefusedError */
export function decodeAbi<const Parameters extends readonly AbiParameter[]>(
  parameters: Parameters,
  data: Hex,
  options: DecodeAbiOptions = {},
): DecodeAbiParametersReturnType<Parameters> {
  return decodeMeasured(parameters, data, options).values;
}

export function decodeMeasured<const Parameters extends readonly AbiParameter[]>(
  parameters: Parameters,
  data: Hex,
  { outputBytesMax = OUTPUT_BYTES_MAX, overlaps = 'allow' }: DecodeAbiOptions = {},
): { readonly values: DecodeAbiParametersReturnType<Parameters>; readonly outputBytes: number } {
  const bytes = Buffer.from(data.slice(2), 'hex');
  if (2 * bytes.length !== data.length - 2)
    throw new EncodingRefusedError('it is not whole bytes in hexadecimal');
  const limits = { outputBytesMax, mayOverlap: overlaps === 'allow' };
  const shapes = shapesOf(parameters);
  // Invariant: HTTP-ABI-MEASURED
  const outputBytes = measureEncoding(shapes, bytes, limits);
  const values: readonly unknown[] = readMembers(shapes, data.toLowerCase(), 0, 0);
  return { values: values as DecodeAbiParametersReturnType<Parameters>, outputBytes };
}

const known = new WeakMap<readonly ShapedParameter[], readonly AbiShape[]>();

function shapesOf(parameters: readonly ShapedParameter[]): readonly AbiShape[] {
  const shapes = known.get(parameters) ?? parameters.map((parameter) => shapeOf(parameter));
  known.set(parameters, shapes);
  return shapes;
}

type AbiValue = LeafValue | readonly AbiValue[] | { readonly [member: string]: AbiValue };

/** Needs a measured encoding in lower case. @throws EncodingRefusedError */
function readMembers(shapes: readonly AbiShape[], data: string, first: number, base: number): AbiValue[] {
  let end = first;
  return shapes.map((shape) => {
    const head = end;
    end += shape.layout.headBytes;
    return readValue(shape, data, head, base);
  });
}

function readValue(shape: AbiShape, data: string, head: number, base: number): AbiValue {
  if (shape.kind === 'array') return readArray(shape, data, head, base);
  if (shape.kind === 'tuple') return readTuple(shape, data, head, base);
  return readLeaf(shape, data, head, base) ?? refuse(head);
}

function readArray({ item, count, layout }: ArrayShape, data: string, head: number, base: number): AbiValue[] {
  const start = layout.isDynamic ? base + numberAt(data, head) : head;
  const first = count === null ? start + WORD_BYTES : start;
  return Array.from({ length: count ?? numberAt(data, start) }, (_, index) =>
    readValue(item, data, first + index * item.layout.headBytes, first),
  );
}

function readTuple({ members, names, layout }: TupleShape, data: string, head: number, base: number): AbiValue {
  const start = layout.isDynamic ? base + numberAt(data, head) : head;
  const values = readMembers(members, data, start, start);
  return names === null ? values : Object.fromEntries(values.map((value, index) => [names[index], value]));
}

function numberAt(data: string, byte: number): number {
  return lengthAt(data, byte) ?? refuse(byte);
}

function refuse(byte: number): never {
  throw new EncodingRefusedError(`at byte ${byte} is no value of the type that belongs there`);
}
