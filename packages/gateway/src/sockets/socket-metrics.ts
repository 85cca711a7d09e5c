import { Counter, Gauge, type Registry } from '@chainstead/core';

/** Why a socket was ended by the server. */
export type EndReason = 'slow' | 'dead' | 'key' | 'shutdown';

export interface SocketMetrics {
  /** A socket was opened (1) or closed (−1). */
  open(chain: string, change: 1 | -1): void;
  /** The server ended a socket. */
  ended(chain: string, reason: EndReason): void;
  /** A socket was not accepted. */
  refused(status: number): void;
}

export function createSocketMetrics(registry: Registry): SocketMetrics {
  const registers = [registry];
  const open = new Gauge({
    name: 'chainstead_gateway_sockets',
    help: 'WebSockets of JSON-RPC clients that are open',
    labelNames: ['chain'],
    registers,
  });
  const ended = new Counter({
    name: 'chainstead_gateway_sockets_ended_total',
    help: 'WebSockets that the server ended: slow (the client did not read), dead (no answer to pings), key (revoked), shutdown',
    labelNames: ['chain', 'reason'],
    registers,
  });
  const refused = new Counter({
    name: 'chainstead_gateway_sockets_refused_total',
    help: 'WebSockets that were not accepted, by HTTP status: 401 and 403 (who asks), 429 (too many of the key), 503 (too many)',
    labelNames: ['status'],
    registers,
  });
  return {
    open: (chain, change) => open.inc({ chain }, change),
    ended: (chain, reason) => ended.inc({ chain, reason }),
    refused: (status) => refused.inc({ status: String(status) }),
  };
}
