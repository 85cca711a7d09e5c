import { type AbiShape, type ArrayShape, headBytesOf, type TupleShape, WORD_BYTES } from './abi-shape.ts';
import { EncodingRefusedError } from './encoding-refused.ts';

export interface MeasureLimits {
  /** A word per value, list and tuple, plus texts and names. */
  readonly outputBytesMax: number;
  /** Only encodings written by hand share bytes. */
  readonly mayOverlap: boolean;
}

/** @throws EncodingRefusedError if too many, overlapping or outside the data */
export function measureEncoding(shapes: readonly AbiShape[], data: Buffer, limits: MeasureLimits): number {
  const walk = new EncodingWalk(data, limits);
  walk.members(shapes, 0);
  return walk.finish();
}

class EncodingWalk {
  readonly #data: Buffer;
  readonly #limits: MeasureLimits;
  readonly #pieces: (readonly [start: number, end: number])[] = [];
  #output = 0;

  constructor(data: Buffer, limits: MeasureLimits) {
    this.#data = data;
    this.#limits = limits;
  }

  members(shapes: readonly AbiShape[], base: number): void {
    this.#piece(base, headBytesOf(shapes));
    let head = base;
    for (const shape of shapes) {
      this.#value(shape, head, base);
      head += shape.layout.headBytes;
    }
  }

  finish(): number {
    if (!this.#limits.mayOverlap) this.#refuseOverlaps();
    return this.#output;
  }

  #value(shape: AbiShape, head: number, base: number): void {
    this.#spend(WORD_BYTES);
    if (shape.kind === 'word') this.#require(head, WORD_BYTES);
    else if (shape.kind === 'bytes') this.#bytes(base + this.#number(head));
    else if (shape.kind === 'array') this.#array(shape, head, base);
    else this.#tuple(shape, head, base);
  }

  #bytes(start: number): void {
    const length = this.#number(start);
    this.#spend(length);
    this.#piece(start, WORD_BYTES + length);
  }

  #array({ item, count, layout }: ArrayShape, head: number, base: number): void {
    if (!layout.isDynamic) {
      this.#items(item, count ?? 0, head, base);
      return;
    }
    const start = base + this.#number(head);
    if (count === null) this.#piece(start, WORD_BYTES);
    const first = count === null ? start + WORD_BYTES : start;
    const items = count ?? this.#number(start);
    // An item costs a word at least: a length alone must not make a long loop.
    if (items * WORD_BYTES > this.#limits.outputBytesMax) this.#refuseOutput();
    this.#piece(first, items * item.layout.headBytes);
    this.#items(item, items, first, first);
  }

  #items(item: AbiShape, count: number, first: number, base: number): void {
    for (let index = 0; index < count; index++) this.#value(item, first + index * item.layout.headBytes, base);
  }

  #tuple({ members, nameLength, layout }: TupleShape, head: number, base: number): void {
    this.#spend(nameLength);
    if (layout.isDynamic) {
      this.members(members, base + this.#number(head));
      return;
    }
    let at = head;
    for (const member of members) {
      this.#value(member, at, base);
      at += member.layout.headBytes;
    }
  }

  #piece(start: number, bytes: number): void {
    this.#require(start, bytes);
    if (bytes > 0 && !this.#limits.mayOverlap) this.#pieces.push([start, start + bytes]);
  }

  #spend(bytes: number): void {
    this.#output += bytes;
    if (this.#output > this.#limits.outputBytesMax) this.#refuseOutput();
  }

  #refuseOutput(): never {
    throw new EncodingRefusedError(`it decodes to more than ${this.#limits.outputBytesMax} bytes`);
  }

  #require(start: number, bytes: number): void {
    if (start + bytes > this.#data.length)
      throw new EncodingRefusedError(`it has ${this.#data.length} bytes, a value ends at byte ${start + bytes}`);
  }

  #number(at: number): number {
    this.#require(at, WORD_BYTES);
    for (let byte = at; byte < at + WORD_BYTES - 4; byte++)
      if (this.#data[byte] !== 0) throw new EncodingRefusedError('an offset or a length is larger than any data');
    return this.#data.readUInt32BE(at + WORD_BYTES - 4);
  }

  #refuseOverlaps(): void {
    const sorted = this.#pieces.toSorted(([a], [b]) => a - b);
    for (const [index, [start]] of sorted.entries())
      if (start < (sorted[index - 1]?.[1] ?? 0))
        throw new EncodingRefusedError(`values share the bytes from ${start} on`);
  }
}
