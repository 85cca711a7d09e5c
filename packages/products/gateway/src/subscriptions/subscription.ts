/** JSON. Bytes are large, and shared by all clients: none gets a copy. */
export type SharedText = string | Buffer;

/** Usually for one block. Each is created when the client has room. */
export interface Notifications {
  readonly bytes: number;
  readonly shared: SharedTexts;
  /** Parts of one message. */
  next(): readonly SharedText[] | null;
}

export interface SharedTexts {
  readonly bytes: number;
}

const WAITING_BYTES = 500;

/** Notifications wait until the client knows the subscription's id. */
export class Subscription {
  readonly id: string;
  readonly #report: (notifications: Notifications) => void;
  readonly #count: () => void;
  readonly #before: string;
  #waiting: Notifications[] | null = [];
  #stop: (() => void) | null = null;
  #isOver = false;

  constructor(id: string, report: (notifications: Notifications) => void, count: () => void) {
    this.id = id;
    this.#report = report;
    this.#count = count;
    this.#before = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
  }

  set source(stop: () => void) {
    if (this.#isOver) stop();
    else this.#stop = stop;
  }

  /** @param results iterated once @param shared the data that holds them */
  notify(results: Iterable<SharedText>, shared: SharedTexts): void {
    if (this.#isOver) return;
    const left = results[Symbol.iterator]();
    const notifications = { bytes: WAITING_BYTES, shared, next: () => this.#nextOf(left) };
    if (this.#waiting === null) this.#report(notifications);
    else this.#waiting.push(notifications);
  }

  activate(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const notifications of waiting) this.#report(notifications);
  }

  end(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#stop?.();
    this.#stop = null;
  }

  #nextOf(results: Iterator<SharedText>): readonly SharedText[] | null {
    if (this.#isOver) return null;
    const { done, value } = results.next();
    if (done === true) return null;
    this.#count();
    return typeof value === 'string' ? [`${this.#before}${value}}}`] : [this.#before, value, '}}'];
  }
}
