/** A log as clients are told of it. */
export interface ToldLog {
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly logIndex: string;
  readonly removed: boolean;
}

/** What a client knows after it has done and undone what it was told. */
export class ReplayedLogs {
  readonly #logs = new Map<string, ToldLog>();
  /** What could not be: a log told twice, or removed without having been told. */
  readonly faults: string[] = [];

  /** @param known what the client had read before */
  constructor(known: readonly ToldLog[]) {
    for (const log of known) this.#logs.set(keyOf(log), log);
  }

  take(log: ToldLog): void {
    const key = keyOf(log);
    if (log.removed) {
      if (!this.#logs.delete(key)) this.faults.push(`removed without being known: ${key}`);
    } else if (this.#logs.has(key)) this.faults.push(`told twice: ${key}`);
    else this.#logs.set(key, log);
  }

  /** In order of the chain. */
  get keys(): readonly string[] {
    return keysOf([...this.#logs.values()]);
  }
}

export function keysOf(logs: readonly ToldLog[]): readonly string[] {
  return logs
    .toSorted((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex))
    .map(keyOf);
}

function keyOf({ blockNumber, blockHash, logIndex }: ToldLog): string {
  return `${Number(blockNumber)}/${blockHash}/${Number(logIndex)}`;
}
