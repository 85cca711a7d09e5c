import type { BlockRange } from '@chainstead/core';

export interface ReadAhead<T> extends AsyncIterable<T> {
  /** False if iteration has ended. */
  extend(to: number): boolean;
}

export interface Turn {
  readonly isNext: Promise<void>;
  afterwards(end: () => void): void;
}

/** Up to `depth` reads in flight. Reads begin when the first value is requested. */
export function readAhead<T>(
  range: BlockRange,
  depth: number,
  read: (number: number, turn: Turn) => Promise<T>,
): ReadAhead<T> {
  return new RangeReader(range, depth, read);
}

class ReadTurn implements Turn {
  readonly #next = Promise.withResolvers<void>();
  readonly #ends: (() => void)[] = [];
  #isOver = false;

  get isNext(): Promise<void> {
    return this.#next.promise;
  }

  begin(): void {
    this.#next.resolve();
  }

  afterwards(end: () => void): void {
    if (this.#isOver) end();
    else this.#ends.push(end);
  }

  end(): void {
    this.#isOver = true;
    for (const end of this.#ends.splice(0)) end();
  }
}

interface Reading<T> {
  readonly value: Promise<T>;
  readonly turn: ReadTurn;
}

class RangeReader<T> implements ReadAhead<T> {
  readonly #depth: number;
  readonly #read: (number: number, turn: Turn) => Promise<T>;
  readonly #inFlight: Reading<T>[] = [];
  #next: number;
  #to: number;
  #isOver = false;

  constructor({ from, to }: BlockRange, depth: number, read: (number: number, turn: Turn) => Promise<T>) {
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
    let current: Reading<T> | undefined;
    try {
      this.#fill();
      for (let [first] = this.#inFlight; first !== undefined; [first] = this.#inFlight) {
        current = first;
        const value = await first.value;
        this.#inFlight.shift();
        this.#fill();
        yield value;
        first.turn.end();
      }
    } finally {
      this.#isOver = true;
      current?.turn.end();
      for (const { turn } of this.#inFlight) turn.end();
    }
  }

  #fill(): void {
    while (this.#inFlight.length < this.#depth && this.#next <= this.#to) {
      const turn = new ReadTurn();
      const value = this.#read(this.#next++, turn);
      // A read that fails before its turn must not become an unhandled rejection.
      value.catch(() => undefined);
      this.#inFlight.push({ value, turn });
    }
    this.#inFlight[0]?.turn.begin();
  }
}
