import type { UpstreamFault } from './errors.ts';
import type { FaultKind, UpstreamStatus } from './upstream-pool.ts';

export interface Capabilities {
  blockReceipts: boolean | null;
  batch: boolean | null;
  traces: 'debug' | 'parity' | null;
  logTimestamps: boolean | null;
}

export interface UpstreamState {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Reported; null: none yet. */
  readonly head: number | null;
  setHead(head: number): void;
  /** Returned, not only announced; null: none yet. */
  readonly served: number | null;
  setServed(block: number): void;
  /** Per second, from refusals; null: none. */
  readonly learnedRate: number | null;
  /** 0: now; null: disabled. */
  waitMs(): number | null;
  readonly obstacle: string;
  lacks(method: string): boolean;
  lacksHistory(block: number): boolean;
  setHistoryGone(upTo: number): void;
  score(bestHead: number | null): number;
  percentile(method: string, share: number): number;
  sent(): void;
  ended(): void;
  answered(method: string, latencyMs: number): void;
  /** @param calls that it refused. @default 1 */
  failed(fault: UpstreamFault, calls?: number): void;
  noted(fault: UpstreamFault): void;
  blamed(kind: FaultKind, text: string): void;
  abandoned(): void;
  disable(reason: string): void;
  enable(): void;
  readonly disabledReason: string | null;
  /** Epoch milliseconds, if disabled or its circuit is open. */
  readonly recheckAt: number | null;
  status(bestHead: number | null, logRangeMax: number | null): UpstreamStatus;
}
