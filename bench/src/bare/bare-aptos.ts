/** The least that reading Aptos can cost: pages of a fullnode, as many at once as the program asks for, and JSON.parse. */
import { Pool } from 'undici';

/** What the script is told, as its one argument in JSON. */
export interface BareAptosPlan {
  readonly url: string;
  readonly versions: number;
}

const PAGE = 100;
/** As many as the program has in flight to one fullnode. */
const PAGES_IN_FLIGHT = 12;

const plan = JSON.parse(process.argv[2] ?? '{}') as BareAptosPlan;
const pool = new Pool(plan.url, { connections: PAGES_IN_FLIGHT });
let next = 0;
let parsed = 0;
await Promise.all(Array.from({ length: PAGES_IN_FLIGHT }, readPages));
await pool.close();
if (parsed !== plan.versions) throw new Error(`${parsed} of ${plan.versions} transactions were read`);

async function readPages(): Promise<void> {
  while (next < plan.versions) {
    const start = next;
    next += PAGE;
    const limit = Math.min(PAGE, plan.versions - start);
    const { body } = await pool.request({ path: `/v1/transactions?start=${start}&limit=${limit}`, method: 'GET' });
    const transactions = JSON.parse(await body.text()) as unknown[];
    parsed += transactions.length;
  }
}
