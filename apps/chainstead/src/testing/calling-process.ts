/**
 * A process that calls a node within what its supervisor grants, until it is ended. Arguments: the upstream as JSON, and either
 * `heads` or the method that it calls as often as it may.
 */
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createUpstreamPool, type UpstreamConfig } from '@chainstead/rpc';
import { parseRoleMessage, type RoleMessage } from '../supervisor/role-messages.ts';
import { createSupervisedTurns } from '../supervisor/supervised-turns.ts';

/** Calls that wait at any time. */
const AT_ONCE = 20;
const HEADS_MS = 200;

const [upstream = '', work = 'heads'] = process.argv.slice(2);
const send = (message: RoleMessage): void => {
  process.send?.(message, undefined, undefined, () => undefined);
};
const turns = createSupervisedTurns(send, systemClock);
process.on('message', (value) => {
  const message = parseRoleMessage(value);
  if (message?.type === 'turn-grant') turns.receive(message);
});
process.on('disconnect', () => process.exit(0));

const pool = createUpstreamPool({
  chain: createChainRegistry().get('eth'),
  upstreams: [JSON.parse(upstream) as UpstreamConfig],
  logger: silentLogger(),
  metrics: createMetricsRegistry(),
  turns,
});

async function call(): Promise<never> {
  for (;;) await pool.request(work, []);
}

async function readHeads(): Promise<never> {
  for (;;) {
    await pool.getHead();
    await systemClock.sleep(HEADS_MS);
  }
}

await pool.start();
send({ type: 'ready', role: 'worker', address: null });
await (work === 'heads' ? readHeads() : Promise.all(Array.from({ length: AT_ONCE }, call)));
