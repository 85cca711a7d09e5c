import { isObject, type Log } from '@chainstead/core';
import { logRange } from '../methods/log-filter.ts';

export interface LogCriteria {
  readonly addresses: ReadonlySet<string> | null;
  /** By position, null: any. A log needs at least as many topics. */
  readonly topics: readonly (ReadonlySet<string> | null)[];
  /** Inclusive; null: no bound. */
  readonly from: number | null;
  readonly to: number | null;
}

/** @returns a text: the filter can't apply to future logs */
export function readLogCriteria(filter: unknown): LogCriteria | string {
  if (!isObject(filter)) return ANY;
  const range = logRange(filter);
  if (range === null) return 'blockHash names a past block, but only new logs are reported';
  const [from, to] = [boundOf(range.from), boundOf(range.to)];
  if (from === false || to === false)
    return 'new logs have no block that is safe or finalized: leave fromBlock and toBlock out';
  if (from !== null && to !== null && from > to) return 'invalid block range params';
  const addresses = [filter.address ?? []].flat();
  return {
    addresses: addresses.length === 0 ? null : lowerCased(addresses),
    topics: readTopics(filter.topics),
    from,
    to,
  };
}

export function matchesCriteria({ addresses, topics, from, to }: LogCriteria, log: Log): boolean {
  if (addresses !== null && !addresses.has(log.address)) return false;
  if (topics.length > log.topics.length) return false;
  if ((from !== null && log.blockNumber < from) || (to !== null && log.blockNumber > to)) return false;
  return topics.every((wanted, index) => wanted === null || wanted.has(log.topics[index] ?? ''));
}

const ANY: LogCriteria = { addresses: null, topics: [], from: null, to: null };

/** False: a tag of a block below the newest. */
function boundOf(bound: number | string): number | null | false {
  if (typeof bound === 'number') return bound;
  return bound === 'latest' || bound === 'pending' ? null : false;
}

function readTopics(given: unknown): (ReadonlySet<string> | null)[] {
  if (!Array.isArray(given)) return [];
  return given.map((position: unknown) => {
    if (typeof position === 'string') return new Set([position.toLowerCase()]);
    // A null alternative, or an empty list, matches everything.
    return Array.isArray(position) && position.length > 0 && !position.includes(null)
      ? lowerCased(position)
      : null;
  });
}

function lowerCased(values: readonly unknown[]): ReadonlySet<string> {
  return new Set(values.map((value) => String(value).toLowerCase()));
}

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
