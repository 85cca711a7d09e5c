import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

export interface UpgradeHandler {
  /** Whether it handles this request; other requests are served as if they had not requested an upgrade. */
  takes(incoming: IncomingMessage): boolean;
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Accepts no more connections. Those still open after `deadlineMs` are destroyed. */
  close(deadlineMs: number): Promise<void>;
}
