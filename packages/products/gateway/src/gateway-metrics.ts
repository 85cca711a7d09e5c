import { counter, defineMetrics, gauge } from '@chainstead/core';

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

export const createGatewayMetrics = defineMetrics('chainstead_gateway', {
  answers: counter(
    'Number of JSON-RPC calls by outcome: hit (served from memory), miss (served by an upstream), coalesced (shared with an identical call), error',
    ['chain', 'method', 'outcome'],
  ),
  cacheBytes: gauge('Number of bytes of cached responses in memory'),
  head: gauge('Head block number of the gateway. No response is based on an older head', ['chain']),
  finalBlock: gauge('Newest block number whose responses are cached permanently', ['chain']),
  refusals: counter(
    'Number of JSON-RPC calls rejected before execution, by reason: unsupported (method), rate-limited (key), invalid-params',
    ['chain', 'reason'],
  ),
  sockets: gauge('Number of open JSON-RPC WebSocket connections', ['chain']),
  socketsEnded: counter(
    'Number of WebSocket connections closed by the server, by reason: slow (the client did not read), dead (no pong received), key (revoked), shutdown',
    ['chain', 'reason'],
  ),
  socketsRefused: counter(
    'Number of rejected WebSocket connections by HTTP status: 401 and 403 (API key), 429 (limit per key), 503 (limit per server)',
    ['status'],
  ),
  subscriptions: gauge('Number of active JSON-RPC subscriptions over WebSocket, by kind', ['chain', 'kind']),
  notifications: counter('Number of notifications sent to subscriptions, by kind', ['chain', 'kind']),
  filters: counter(
    'Number of filters created by JSON-RPC clients, by kind: logs, blocks, pending (transactions)',
    ['chain', 'kind'],
  ),
});
