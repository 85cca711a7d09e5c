/**
 * The node calls that reading a collection takes, and nothing else: is there code, what do eight functions answer through
 * Multicall3, and once more the one that failed there. No answer is looked at, nothing is stored.
 */
import { Pool } from 'undici';

/** What the script is told, as its one argument in JSON. */
export interface BareCollectionsPlan {
  readonly url: string;
  readonly collections: readonly string[];
  readonly atOnce: number;
}

/** What it says when it is done. */
export interface BareCollectionsReport {
  /** From the first call to the last answer. */
  readonly seconds: number;
}

const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';
const AGGREGATE3 = '0x82ad56cb';
const SUPPORTS = '01ffc9a7';
const BASE_URI = '6c0360eb';
/** supportsInterface of ERC-165, of nobody, ERC-721 and ERC-1155; name, symbol, contractURI, baseURI. */
const CALLS = [
  ...['01ffc9a7', 'ffffffff', '80ac58cd', 'd9b67a26'].map((id) => `${SUPPORTS}${id.padEnd(64, '0')}`),
  '06fdde03',
  '95d89b41',
  'e8a3d485',
  BASE_URI,
];

const plan = JSON.parse(process.argv[2] ?? '{}') as BareCollectionsPlan;
const pool = new Pool(new URL(plan.url).origin, { connections: 2 * plan.atOnce });
const left = plan.collections.values();
const startedAt = performance.now();
await Promise.all(Array.from({ length: plan.atOnce }, work));
const report: BareCollectionsReport = { seconds: (performance.now() - startedAt) / 1_000 };
await pool.close();
console.log(JSON.stringify(report));

async function work(): Promise<void> {
  for (const collection of left) {
    await Promise.all([post('eth_getCode', [collection, 'latest']), call(MULTICALL3, aggregate(collection))]);
    await call(collection, `0x${BASE_URI}`);
  }
}

function call(to: string, data: string): Promise<unknown> {
  return post('eth_call', [{ to, data }, 'latest']);
}

async function post(method: string, params: readonly unknown[]): Promise<unknown> {
  const { body } = await pool.request({
    path: '/',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return body.json();
}

/** `aggregate3((address target, bool allowFailure, bytes callData)[])`. */
function aggregate(target: string): string {
  const tuples = CALLS.map((data) => {
    const words = Math.ceil(data.length / 64);
    return word(BigInt(target)) + word(1) + word(96) + word(data.length / 2) + data.padEnd(64 * words, '0');
  });
  let offset = 32 * tuples.length;
  const offsets = tuples.map((tuple) => {
    const own = word(offset);
    offset += tuple.length / 2;
    return own;
  });
  return `${AGGREGATE3}${word(32)}${word(tuples.length)}${offsets.join('')}${tuples.join('')}`;
}

function word(value: number | bigint): string {
  return value.toString(16).padStart(64, '0');
}
