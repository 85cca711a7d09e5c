import { Counter, Gauge, type Registry } from '@chainstead/core';

export type EndReason = 'slow' | 'dead' | 'key' | 'shutdown';

export function createSocketMetrics(registry: Registry) {
  const registers = [registry];
  const open = new Gauge({
    name: 'chainstead_gateway_sockets',
    help: 'Number of open JSON-RPC WebSocket connections',
    labelNames: ['chain'],
    registers,
  });
  const ended = new Counter({
    name: 'chainstead_gateway_sockets_ended_total',
    help: 'Number of WebSocket connections closed by the server, by reason: slow (the client did not read), dead (no pong received), key (revoked), shutdown',
    labelNames: ['chain', 'reason'],
    registers,
  });
  const refused = new Counter({
    name: 'chainstead_gateway_sockets_refused_total',
    help: 'Number of rejected WebSocket connections by HTTP status: 401 and 403 (API key), 429 (limit per key), 503 (limit per server)',
    labelNames: ['status'],
    registers,
  });
  return {
    open: (chain: string, change: 1 | -1): void => open.inc({ chain }, change),
    ended: (chain: string, reason: EndReason): void => ended.inc({ chain, reason }),
    refused: (status: number): void => refused.inc({ status: String(status) }),
  };
}
