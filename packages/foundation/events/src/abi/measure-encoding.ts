import { type AbiShape, type ArrayShape, headBytesOf, type TupleShape, WORD_BYTES } from './abi-shape.ts';
import { EncodingRefusedError } from './encoding-refused.ts';

export interface MeasureLimits {
  /** A word per value, list and tuple, plus texts and names. */
  readonly outputBytesMax: number;
  /** Only encodings written by hand share bytes. */
  readonly mayOverlap: boolean;
}

/** @throws EncodingRefusedError if too many, overlapping or outside the data */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the walk counts and collects in one state.
export function measureEncoding(shapes: readonly AbiShape[], data: Buffer, limits: MeasureLimits): number {
  const pieces: (readonly [start: number, end: number])[] = [];
  let output = 0;
  measureMembers(shapes, 0);
  const sorted = pieces.toSorted(([a], [b]) => a - b);
  for (const [index, [start]] of sorted.entries())
    if (start < (sorted[index - 1]?.[1] ?? 0))
      throw new EncodingRefusedError(`values share the bytes from ${start} on`);
  return output;

  function measureMembers(shapes: readonly AbiShape[], base: number): void {
    piece(base, headBytesOf(shapes));
    measureEach(shapes, base, base);
  }

  function measureEach(shapes: readonly AbiShape[], first: number, base: number): void {
    let head = first;
    for (const shape of shapes) {
      measure(shape, head, base);
      head += shape.layout.headBytes;
    }
  }

  function measure(shape: AbiShape, head: number, base: number): void {
    spend(WORD_BYTES);
    if (shape.kind === 'word') requireBytes(head, WORD_BYTES);
    else if (shape.kind === 'array') measureArray(shape, head, base);
    else if (shape.kind === 'tuple') measureTuple(shape, head, base);
    else {
      const start = base + numberAt(head);
      const length = numberAt(start);
      spend(length);
      piece(start, WORD_BYTES + length);
    }
  }

  function measureArray({ item, count, layout }: ArrayShape, head: number, base: number): void {
    if (!layout.isDynamic) {
      measureItems(item, count ?? 0, head, base);
      return;
    }
    const start = base + numberAt(head);
    if (count === null) piece(start, WORD_BYTES);
    const first = count === null ? start + WORD_BYTES : start;
    const items = count ?? numberAt(start);
    // An item costs a word at least: a length alone must not make a long loop.
    if (items * WORD_BYTES > limits.outputBytesMax) refuseOutput();
    piece(first, items * item.layout.headBytes);
    measureItems(item, items, first, first);
  }

  function measureItems(item: AbiShape, count: number, first: number, base: number): void {
    for (let index = 0; index < count; index++) measure(item, first + index * item.layout.headBytes, base);
  }

  function measureTuple({ members, nameLength, layout }: TupleShape, head: number, base: number): void {
    spend(nameLength);
    if (layout.isDynamic) measureMembers(members, base + numberAt(head));
    else measureEach(members, head, base);
  }

  function piece(start: number, bytes: number): void {
    requireBytes(start, bytes);
    if (bytes > 0 && !limits.mayOverlap) pieces.push([start, start + bytes]);
  }

  function spend(bytes: number): void {
    output += bytes;
    if (output > limits.outputBytesMax) refuseOutput();
  }

  function refuseOutput(): never {
    throw new EncodingRefusedError(`it decodes to more than ${limits.outputBytesMax} bytes`);
  }

  function requireBytes(start: number, bytes: number): void {
    if (start + bytes > data.length)
      throw new EncodingRefusedError(`it has ${data.length} bytes, a value ends at byte ${start + bytes}`);
  }

  function numberAt(at: number): number {
    requireBytes(at, WORD_BYTES);
    for (let byte = at; byte < at + WORD_BYTES - 4; byte++)
      if (data[byte] !== 0) throw new EncodingRefusedError('an offset or a length is larger than any data');
    return data.readUInt32BE(at + WORD_BYTES - 4);
  }
}
