/** The bytes of a large response: joined chunks would need their memory twice. */
export class GrowingBody {
  /** Only the addresses of the rest are reserved. */
  readonly #memory: ArrayBuffer;

  constructor(bytesMax: number) {
    this.#memory = new ArrayBuffer(0, { maxByteLength: bytesMax });
  }

  push(chunk: Uint8Array): void {
    const end = this.#memory.byteLength;
    this.#memory.resize(end + chunk.length);
    new Uint8Array(this.#memory).set(chunk, end);
  }

  whole(): Buffer {
    return Buffer.from(this.#memory, 0, this.#memory.byteLength);
  }

  free(): void {
    freeBody(this.whole());
  }
}

/** Frees a large body at once, which else waits for a garbage collection. It is empty then. */
export function freeBody({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.transfer(0);
}
