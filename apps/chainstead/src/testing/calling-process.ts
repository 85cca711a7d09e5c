/**
 * A process that calls a node within its shares of the limits, until it is ended. Arguments: the upstream as JSON, and the
 * method that it calls as often as it may.
 */
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import type { UpstreamConfig } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { parseRoleMessage, type RoleMessage } from '../supervisor/metrics-exchange.ts';
import { createSharedLimits } from '../supervisor/shared-limits.ts';

/** Calls that wait at any time. */
const AT_ONCE = 20;

const [upstream = '', method = ''] = process.argv.slice(2);
const send = (message: RoleMessage): void => {
  process.send?.(message, undefined, undefined, () => undefined);
};
const callLimits = createSharedLimits(send, systemClock);
process.on('message', (value) => {
  const message = parseRoleMessage(value);
  if (message?.type === 'limit-share') callLimits.receive(message);
});
process.on('disconnect', () => process.exit(0));

const pool = createUpstreamPool({
  chain: createChainRegistry().get('eth'),
  upstreams: [JSON.parse(upstream) as UpstreamConfig],
  logger: silentLogger(),
  metrics: createMetricsRegistry(),
  callLimits,
});

async function call(): Promise<never> {
  for (;;) await pool.request(method, []);
}

await pool.start();
send({ type: 'ready', role: 'worker', address: null });
await Promise.all(Array.from({ length: AT_ONCE }, call));
