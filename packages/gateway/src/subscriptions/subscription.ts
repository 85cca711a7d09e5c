/** What a subscription is to tell, of one block as a rule. Each text is made when the client has room for it. */
export interface Notifications {
  /** What they take while they wait, without what clients share. Bytes. */
  readonly bytes: number;
  /** What they keep in memory together with others. */
  readonly shared: SharedTexts;
  /** The next message; null: there is none. */
  next(): string | null;
}

/** A block, or transactions, whose texts many notifications hold. */
export interface SharedTexts {
  readonly bytes: number;
}

/** About what waiting notifications take: the objects that make their texts. Bytes. */
const WAITING_BYTES = 500;

/** One subscription of a client: what it is to be told waits until the client knows the subscription's id. */
export class Subscription {
  readonly id: string;
  readonly #tell: (notifications: Notifications) => void;
  readonly #count: () => void;
  readonly #before: string;
  #waiting: Notifications[] | null = [];
  #stop: (() => void) | null = null;
  #isOver = false;

  /** @param tell takes what is to be told @param count is called for each notification that was made */
  constructor(id: string, tell: (notifications: Notifications) => void, count: () => void) {
    this.id = id;
    this.#tell = tell;
    this.#count = count;
    this.#before = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
  }

  /** What ends the source of its notifications. Runs at once where the subscription is over already. */
  set source(stop: () => void) {
    if (this.#isOver) stop();
    else this.#stop = stop;
  }

  /** @param results JSON texts, gone through once @param shared what holds them */
  notify(results: Iterable<string>, shared: SharedTexts): void {
    if (this.#isOver) return;
    const left = results[Symbol.iterator]();
    const notifications = { bytes: WAITING_BYTES, shared, next: () => this.#nextOf(left) };
    if (this.#waiting === null) this.#tell(notifications);
    else this.#waiting.push(notifications);
  }

  /** The client has been told the id: tells what has waited. */
  activate(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const notifications of waiting) this.#tell(notifications);
  }

  end(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#stop?.();
    this.#stop = null;
  }

  #nextOf(results: Iterator<string>): string | null {
    if (this.#isOver) return null;
    const { done, value } = results.next();
    if (done === true) return null;
    this.#count();
    return `${this.#before}${value}}}`;
  }
}
