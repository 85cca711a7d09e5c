/**
 * The least that can answer a page: Hono routes that run the product's own statements and send the rows. No key, no
 * validation, no cursor, no schema.
 */
import { deserialize } from 'node:v8';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Pool } from 'pg';

/** What the program is told, as its one argument: serialised by `node:v8`, in base64. */
export interface BareRoutePlan {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly routes: readonly BareRoute[];
}

export interface BareRoute {
  /** As Hono takes it: `/api/v2.2/:address/erc20/transfers`. */
  readonly path: string;
  /** The statement, and its values as they are for one request. */
  readonly text: string;
  readonly values: readonly unknown[];
  /** Which of the values (from 0) come from the path. */
  readonly parameters: readonly {
    readonly name: string;
    /** `bytes`: hexadecimal text that Postgres is to have as bytea. */
    readonly kind: 'bytes' | 'text';
    readonly places: readonly number[];
  }[];
}

const plan = deserialize(Buffer.from(process.argv[2] ?? '', 'base64')) as BareRoutePlan;
const pool = new Pool({ connectionString: plan.databaseUrl, max: plan.poolSize });
const app = new Hono();

for (const { path, text, values, parameters } of plan.routes)
  app.get(path, async (c) => {
    const own = [...values];
    for (const { name, kind, places } of parameters) {
      const given = c.req.param(name) ?? '';
      for (const place of places) own[place] = kind === 'bytes' ? Buffer.from(given.slice(2), 'hex') : given;
    }
    const { rows } = await pool.query(text, own);
    return c.json({ result: rows });
  });

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`Listening on http://127.0.0.1:${port}`);
});
process.on('SIGTERM', () => server.close(() => process.exit(0)));
