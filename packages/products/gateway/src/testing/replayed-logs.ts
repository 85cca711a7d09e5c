/** A log as reported to clients. */
export interface ReportedLog {
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly logIndex: string;
  readonly removed: boolean;
}

/** The state of a client that applied and reverted all reported logs. */
export class ReplayedLogs {
  readonly #logs = new Map<string, ReportedLog>();
  /** Impossible events: a log reported twice, or removed without having been reported. */
  readonly faults: string[] = [];

  /** @param known logs that the client had read before */
  constructor(known: readonly ReportedLog[]) {
    for (const log of known) this.#logs.set(keyOf(log), log);
  }

  take(log: ReportedLog): void {
    const key = keyOf(log);
    if (log.removed) {
      if (!this.#logs.delete(key)) this.faults.push(`removed without being known: ${key}`);
    } else if (this.#logs.has(key)) this.faults.push(`reported twice: ${key}`);
    else this.#logs.set(key, log);
  }

  /** In chain order. */
  get keys(): readonly string[] {
    return keysOf([...this.#logs.values()]);
  }
}

export function keysOf(logs: readonly ReportedLog[]): readonly string[] {
  return logs
    .toSorted((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex))
    .map(keyOf);
}

function keyOf({ blockNumber, blockHash, logIndex }: ReportedLog): string {
  return `${Number(blockNumber)}/${blockHash}/${Number(logIndex)}`;
}
