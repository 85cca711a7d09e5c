import { type AbiShape, type ArrayShape, type TupleShape, WORD_BYTES } from './abi-shape.ts';
import { lengthAt } from './abi-words.ts';
import { EncodingRefusedError } from './encoding-refused.ts';
import { type LeafValue, readLeaf } from './read-leaf.ts';

/** A decoded value. Tuples are lists where one of their members has no name. */
export type AbiValue = LeafValue | readonly AbiValue[] | { readonly [member: string]: AbiValue };

/**
 * The values of an encoding, one after the other. It must have been measured (`measureEncoding`): what values cost is not looked at here.
 * @param data lower case
 * @throws EncodingRefusedError where a word is no value of its type
 */
export function readValues(shapes: readonly AbiShape[], data: string): readonly AbiValue[] {
  return readMembers(shapes, data, 0, 0);
}

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

/** An offset or a length. */
function numberAt(data: string, byte: number): number {
  return lengthAt(data, byte) ?? refuse(byte);
}

function refuse(byte: number): never {
  throw new EncodingRefusedError(`at byte ${byte} is no value of the type that belongs there`);
}
