import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Takes requests that leave HTTP for another protocol (WebSocket). */
export interface UpgradeHandler {
  /** Whether it answers this request; what it does not take is served as if no upgrade had been asked for. */
  takes(incoming: IncomingMessage): boolean;
  /** Answers one that it takes, and owns the connection from then on. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Accepts nothing more and ends its connections; those that don't end by themselves are cut. @param deadlineMs from now */
  close(deadlineMs: number): Promise<void>;
}
