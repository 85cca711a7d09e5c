import { TestkitError } from '../testkit-error.ts';

/** JSON text kept outside the heap, so that gigabytes of it cost the garbage collector nothing. ASCII only. */
export interface JsonSlab {
  /** Adds text and gives its position. What is added together lies together. */
  append(text: string): number;
  /** What lies from one position to another, without copying. */
  slice(from: number, to: number): Uint8Array[];
}

const CHUNK_BYTES = 64 * 1024 * 1024;

export function createJsonSlab(): JsonSlab {
  const chunks: Buffer[] = [];
  const used: number[] = [];

  function append(text: string): number {
    if (text.length > CHUNK_BYTES)
      throw new TestkitError(`A text of ${text.length} bytes is too long for a slab`);
    if (chunks.length === 0 || (used.at(-1) ?? 0) + text.length > CHUNK_BYTES) {
      chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES));
      used.push(0);
    }
    const last = chunks.length - 1;
    const offset = used[last] ?? 0;
    chunks[last]?.write(text, offset, 'latin1');
    used[last] = offset + text.length;
    return last * CHUNK_BYTES + offset;
  }

  function slice(from: number, to: number): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    for (let index = Math.floor(from / CHUNK_BYTES); index * CHUNK_BYTES < to; index++) {
      const base = index * CHUNK_BYTES;
      const piece = chunks[index]?.subarray(Math.max(0, from - base), Math.min(used[index] ?? 0, to - base));
      if (piece !== undefined && piece.length > 0) pieces.push(piece);
    }
    return pieces;
  }

  return { append, slice };
}
