/** One subscription of a client: what it is to be told waits until the client knows the subscription's id. */
export class Subscription {
  readonly id: string;
  readonly #send: (text: string) => void;
  readonly #before: string;
  #waiting: string[] | null = [];
  #stop: (() => void) | null = null;
  #isOver = false;

  /** @param send takes each notification */
  constructor(id: string, send: (text: string) => void) {
    this.id = id;
    this.#send = send;
    this.#before = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
  }

  /** What ends the source of its notifications. Runs at once where the subscription is over already. */
  set source(stop: () => void) {
    if (this.#isOver) stop();
    else this.#stop = stop;
  }

  /** @param result JSON text */
  notify(result: string): void {
    if (this.#isOver) return;
    const text = `${this.#before}${result}}}`;
    if (this.#waiting === null) this.#send(text);
    else this.#waiting.push(text);
  }

  /** The client has been told the id: sends what has waited. */
  activate(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const text of waiting) this.#send(text);
  }

  end(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#stop?.();
    this.#stop = null;
  }
}
