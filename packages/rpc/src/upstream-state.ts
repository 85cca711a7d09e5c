import type { UpstreamFault } from './errors.ts';
import type { FaultKind, UpstreamStatus } from './upstream-pool.ts';

/** Capabilities of an upstream as far as they are known. */
export interface Capabilities {
  blockReceipts: boolean | null;
  batch: boolean | null;
  traces: 'debug' | 'parity' | null;
  logTimestamps: boolean | null;
}

/** What is remembered of one upstream: health, circuit, pauses, capabilities, counters. */
export interface UpstreamState {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Newest block number that it reported; null before the first. */
  readonly head: number | null;
  setHead(head: number): void;
  /** Highest block that it has actually given, not only announced; null before the first. */
  readonly served: number | null;
  setServed(block: number): void;
  /** Milliseconds until it may be asked, 0 for now; null while it is disabled. */
  waitMs(): number | null;
  /** Why it may not be asked now. */
  readonly obstacle: string;
  /** Whether it said that it does not serve the method. */
  lacks(method: string): boolean;
  /** Whether it said that it has no data of this block any more. */
  lacksHistory(block: number): boolean;
  setHistoryGone(upTo: number): void;
  score(bestHead: number | null): number;
  percentile(method: string, share: number): number;
  /** A request goes out; `ended` follows. */
  sent(): void;
  ended(): void;
  answered(method: string, latencyMs: number): void;
  /** Counts a fault and draws its consequences. */
  failed(fault: UpstreamFault): void;
  /** Counts a fault that says nothing of other calls, without consequences. */
  noted(fault: UpstreamFault): void;
  /** Counts a fault that was found in an answer later. */
  blamed(kind: FaultKind, text: string): void;
  /** The attempt ended without an answer either way. */
  abandoned(): void;
  disable(reason: string): void;
  enable(): void;
  readonly disabledReason: string | null;
  /** When a disabled upstream, or one whose circuit is open, should be looked at again; epoch milliseconds. */
  readonly recheckAt: number | null;
  status(bestHead: number | null, logRangeMax: number | null): UpstreamStatus;
}
