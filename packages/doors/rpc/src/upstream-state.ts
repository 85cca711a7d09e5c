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
  /** Newest block number that it reported; null before the first. */
  readonly head: number | null;
  setHead(head: number): void;
  /** Highest block that it returned, not only announced; null before the first. */
  readonly served: number | null;
  setServed(block: number): void;
  /** Calls per second that its refusals taught; null: none. */
  readonly learnedRate: number | null;
  /** Milliseconds until it may be called, 0 for now; null while it is disabled. */
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
  failed(fault: UpstreamFault): void;
  /** Counts a fault that does not affect other calls, without consequences. */
  noted(fault: UpstreamFault): void;
  /** Counts a fault found in a response later. */
  blamed(kind: FaultKind, text: string): void;
  abandoned(): void;
  disable(reason: string): void;
  enable(): void;
  readonly disabledReason: string | null;
  /** When to check a disabled upstream, or one with an open circuit, again; epoch milliseconds. */
  readonly recheckAt: number | null;
  status(bestHead: number | null, logRangeMax: number | null): UpstreamStatus;
}
