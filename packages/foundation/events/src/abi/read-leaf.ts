import { type BytesShape, type ShapedParameter, shapeOf, WORD_BYTES, type WordShape } from './abi-shape.ts';
import { digitsStart, lengthAt } from './abi-words.ts';
import type { WordReader, WordValue } from './word-reader.ts';

export type LeafValue = WordValue | string;

type ReadLeaf = (data: string, bytesMax?: number) => LeafValue | undefined;

/** Undefined if these bytes are none. Longer text and bytes are cut after `bytesMax`. Never throws. */
export type LeafReader = ReadLeaf & {
  /** Byte of its head. */
  readonly head: number;
};

/** Null: array, tuple or unreadable. @throws EncodingRefusedError for an unknown layout */
export function leafReaders(parameters: readonly ShapedParameter[]): readonly (LeafReader | null)[] {
  let end = 0;
  return parameters.map((parameter) => {
    const shape = shapeOf(parameter);
    const head = end;
    end += shape.layout.headBytes;
    const readerOf = (read: ReadLeaf): LeafReader => Object.assign(read, { head });
    if (shape.kind === 'bytes') return readerOf((data, bytesMax) => readBytes(shape, data, head, 0, bytesMax));
    if (shape.kind !== 'word' || shape.read === null) return null;
    const { read } = shape;
    return readerOf((data) => readWord(read, data, head));
  });
}

/** Undefined if no such value. @param head its byte @param base where offsets begin */
export function readLeaf(shape: WordShape | BytesShape, data: string, head: number, base: number) {
  if (shape.kind === 'bytes') return readBytes(shape, data, head, base);
  return shape.read === null ? undefined : readWord(shape.read, data, head);
}

function readWord(read: WordReader, data: string, byte: number): WordValue | undefined {
  const start = digitsStart(data, byte, WORD_BYTES);
  return start === undefined ? undefined : read(data, start);
}

function readBytes(
  { isText }: BytesShape,
  data: string,
  head: number,
  base: number,
  bytesMax = Number.POSITIVE_INFINITY,
): string | undefined {
  const offset = lengthAt(data, head);
  if (offset === undefined) return undefined;
  const length = lengthAt(data, base + offset);
  if (length === undefined) return undefined;
  const start = digitsStart(data, base + offset + WORD_BYTES, length);
  if (start === undefined) return undefined;
  const digits = data.slice(start, start + 2 * Math.min(length, bytesMax));
  // A slice would keep all data in memory.
  const content = Buffer.from(digits, 'hex');
  return isText ? content.toString() : `0x${content.toString('hex')}`;
}
