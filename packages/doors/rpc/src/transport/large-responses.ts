/** `admitted`: its rest may be read. */
export type LargeResponse = { admitted(): void };

export const LARGE_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Per process: times the largest response, they bound the bytes. */
const PLACES = 4;

export class LargeResponses {
  readonly #places: number;
  readonly #reading = new Set<LargeResponse>();
  readonly #waiting = new Set<LargeResponse>();

  constructor(places: number = PLACES) {
    this.#places = places;
  }

  enter(response: LargeResponse): boolean {
    if (this.#reading.size >= this.#places) {
      this.#waiting.add(response);
      return false;
    }
    this.#reading.add(response);
    return true;
  }

  leave(response: LargeResponse): void {
    this.#waiting.delete(response);
    if (!this.#reading.delete(response)) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#reading.add(next);
    next.admitted();
  }
}

export const largeResponses = new LargeResponses();
