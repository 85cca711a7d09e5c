/** A response that is read into memory. `admitted` is called when its rest may be read. */
export type LargeResponse = { admitted(): void };

/** Responses above this size wait for a place, bytes. */
export const LARGE_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Places of a process, for all its chains: times the largest response, they bound the bytes in flight. */
const PLACES = 4;

/** In order of arrival: several chains and backfills of a process may each receive some at the same time. */
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
