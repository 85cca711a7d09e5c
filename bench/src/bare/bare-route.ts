/**
 * The least that can answer a wallet's page: a Hono route that runs the product's own statement and sends the rows. No key,
 * no validation, no cursor, no schema.
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Pool } from 'pg';

/** What the program is told, as its one argument in JSON. */
export interface BareRoutePlan {
  readonly databaseUrl: string;
  readonly poolSize: number;
  /** The statement, and its values after the first, which is the wallet. */
  readonly text: string;
  readonly otherValues: readonly (string | number | null)[];
}

const plan = JSON.parse(process.argv[2] ?? '{}') as BareRoutePlan;
const pool = new Pool({ connectionString: plan.databaseUrl, max: plan.poolSize });
const app = new Hono();

app.get('/api/v2.2/:address/erc20/transfers', async (c) => {
  const account = Buffer.from(c.req.param('address').slice(2), 'hex');
  const { rows } = await pool.query(plan.text, [account, ...plan.otherValues]);
  return c.json({ result: rows });
});

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`Listening on http://127.0.0.1:${port}`);
});
process.on('SIGTERM', () => server.close(() => process.exit(0)));
