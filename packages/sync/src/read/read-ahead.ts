import type { BlockRange } from '@chainstead/core';

/** Values read ahead, in order. A failed read throws in its turn; later reads are dropped. */
export interface ReadAhead<T> extends AsyncIterable<T> {
  /** Extends the range to a later block. @returns false if iteration has ended: nothing is read any more */
  extend(to: number): boolean;
}

/** Reads the blocks of a range with up to `depth` reads in flight. Reads begin when the first value is requested. */
export function readAhead<T>(range: BlockRange, depth: number, read: (number: number) => Promise<T>): ReadAhead<T> {
  return new RangeReader(range, depth, read);
}

class RangeReader<T> implements ReadAhead<T> {
  readonly #depth: number;
  readonly #read: (number: number) => Promise<T>;
  readonly #inFlight: Promise<T>[] = [];
  #next: number;
  #to: number;
  #isOver = false;

  constructor({ from, to }: BlockRange, depth: number, read: (number: number) => Promise<T>) {
    this.#depth = depth;
    this.#read = read;
    this.#next = from;
    this.#to = to;
  }

  extend(to: number): boolean {
    if (this.#isOver) return false;
    this.#to = Math.max(this.#to, to);
    this.#fill();
    return true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      this.#fill();
      for (let [first] = this.#inFlight; first !== undefined; [first] = this.#inFlight) {
        const value = await first;
        this.#inFlight.shift();
        this.#fill();
        yield value;
      }
    } finally {
      this.#isOver = true;
    }
  }

  #fill(): void {
    while (this.#inFlight.length < this.#depth && this.#next <= this.#to) {
      const reading = this.#read(this.#next++);
      // Without its own handler, a read that fails before its turn would become an unhandled rejection.
      reading.catch(() => undefined);
      this.#inFlight.push(reading);
    }
  }
}
