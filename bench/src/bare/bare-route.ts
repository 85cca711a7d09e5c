/**
 * The least that can answer a page: Hono routes that ask for its rows alone, each with one named prepared statement, and send
 * them. No labels, no token metadata, no coverage; no key, no validation, no cursor, no schema.
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Pool } from 'pg';

/** The input of the program, as its one argument in JSON. */
export interface BareRoutePlan {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly routes: readonly BareRoute[];
}

export interface BareRoute {
  /** As Hono takes it: `/api/v2.2/:address/erc20/transfers`. */
  readonly path: string;
  /** Its values are the parameters of the path, in their order. Those in hexadecimal are `bytea`. */
  readonly statement: string;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as BareRoutePlan;
const pool = new Pool({
  connectionString: plan.databaseUrl,
  max: plan.poolSize,
  options: '-c plan_cache_mode=force_generic_plan -c random_page_cost=1.1 -c jit=off',
});
const app = new Hono();

for (const { path, statement } of plan.routes) {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  app.get(path, async (c) => {
    const values = names.map((name) => parameterOf(c.req.param(name) ?? ''));
    const { rows } = await pool.query({ name: path, text: statement, values });
    return c.body(JSON.stringify({ result: rows }), 200, { 'content-type': 'application/json' });
  });
}

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`Listening on http://127.0.0.1:${port}`);
});
process.on('SIGTERM', () => server.close(() => process.exit(0)));

function parameterOf(given: string): Buffer | string {
  return given.startsWith('0x') ? Buffer.from(given.slice(2), 'hex') : given;
}
