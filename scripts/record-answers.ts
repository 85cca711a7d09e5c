/**
 * `npm run answers -- --record out.json [--checkout folder]` starts the program of a checkout over recorded chains and records its responses.
 * `npm run answers -- --compare a.json b.json` compares two recordings byte for byte, except times and ids. Exit code 1 if they differ.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import * as testkit from '../tests/testkit/src/index.ts';
import * as requests from './answers/requests.ts';
import { chooseSubjects } from './answers/subjects.ts';
import { REPOSITORY_ROOT } from './check/source-files.ts';

/** `request` is method, path and body, with names in braces. */
type Answer = Readonly<{ request: string; status: number; type: string | null; body: string }>;
/** `startedAt` in milliseconds since the epoch. */
type Recording = Readonly<{ startedAt: number; answers: readonly Answer[] }>;

const KEY = 'answers-key-0123456789';
const BLOCKS = { from: 35_779_967, to: 35_780_032 };
const APTOS_FILES = [
  'rest-local-chain/test_get_transactions_output_genesis_transaction.json',
  'rest-derived/mainnet_transactions.json',
  'rest-derived/testnet_transactions.json',
];
const LEAST_REQUESTS = 300;
const PATIENCE_MS = 120_000;
const PASSES_MAX = 10;
/** The parts of a body that aren't compared, next to times since the start of the recording. */
const NORMALIZED: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>'],
  [/"(cursor|secretKey)":"[^"]*"/g, '"$1":"<$1>"'],
  [/\d+ node calls made/g, '<count> node calls made'],
  [/"uptime":[\d.]+/g, '"uptime":<time>'],
  [/http:\/\/127\.0\.0\.1:\d+/g, '<address>'],
];
/** ISO 8601, or seconds or milliseconds since the epoch. */
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)|\b\d{10}(?:\d{3})?\b/g;
const HOUR_MS = 3_600_000;
/** Characters of a difference. */
const SHOWN = 120;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    record: { type: 'string' },
    checkout: { type: 'string', default: REPOSITORY_ROOT },
    compare: { type: 'boolean', default: false },
  },
});
const [one, other] = values.compare ? positionals.map((file) => readFile(file, 'utf8')) : [];
if (values.record !== undefined) {
  const recording = await record(resolve(values.checkout));
  await writeFile(values.record, `${JSON.stringify(recording, null, 1)}\n`);
  console.log(`${recording.answers.length} responses recorded`);
} else if (one !== undefined && other !== undefined) {
  const found = differences(JSON.parse(await one) as Recording, JSON.parse(await other) as Recording);
  for (const difference of found) console.log(difference);
  console.log(`${found.length} responses differ`);
  process.exitCode = found.length === 0 ? 0 : 1;
} else throw new Error('Use --record out.json [--checkout folder], or --compare a.json b.json');

async function record(checkout: string): Promise<Recording> {
  await using parts = new AsyncDisposableStack();
  const source = { folder: testkit.recordedData('data/evm').folder, chain: requests.CHAIN, blocks: BLOCKS };
  const aptos = testkit.recordedData('data/aptos').folder;
  const transactions = APTOS_FILES.flatMap((file) => testkit.readAptosTransactions(aptos, file));
  const subjects = chooseSubjects(await testkit.loadRecordedChain(source), transactions);
  const ledger = testkit.createAptosLedger({ transactions, place: { from: 0, every: 60 }, head: 4_000 });
  const node = parts.adopt(await testkit.serveRecordedChain(source), (part) => part.close());
  const fullnode = parts.adopt(await testkit.startAptosFullnode(ledger), (part) => part.close());
  const receiver = parts.adopt(await testkit.startWebhookReceiver(), (part) => part.close());
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'answers-')), (part) => rm(part, { recursive: true }));
  const environment = {
    ...{
      DATA_DIR: folder,
      PORT: '0',
      METRICS_PORT: '0',
      API_KEYS: KEY,
      VERIFICATION: 'record',
      ON_DEMAND_WAIT_MS: '10000',
    },
    ...{
      CHAINS: requests.CHAIN,
      RPC_URLS_POLYGON: node.url,
      START_BLOCK_POLYGON: String(BLOCKS.from),
      TRANSACTIONS_POLYGON: 'all',
    },
    ...{ APTOS_NODE_URL: fullnode.url, APTOS_DATASETS: 'coins,transfers,holders', APTOS_START_VERSION: '0' },
    ...{ ON_DEMAND_CONCURRENCY_PER_KEY: '100000', WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32' },
    // No server beyond this machine is read.
    ...{ IPFS_GATEWAYS: 'http://127.0.0.1:9', ARWEAVE_GATEWAYS: 'http://127.0.0.1:9', ENS_GATEWAYS: 'off' },
  };
  const entry = join(checkout, 'apps/chainstead/bin/chainstead.js');
  const startedAt = Date.now();
  const program = parts.adopt(testkit.startProgram(['start'], { entry, environment }), async (part) => {
    await part.stop();
  });
  const url = await program.url;
  await untilIndexed(url, entry, environment);
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as requests.ApiDocument;
  const known = new Map([
    ...Object.entries({
      chain: requests.CHAIN,
      chainId: requests.CHAIN_ID,
      blockNumber: String(BLOCKS.from + 10),
    }),
    ...Object.entries({
      apiKey: KEY,
      webhook: `${receiver.url}/webhook`,
      nobody: '00000000-0000-4000-8000-000000000000',
    }),
  ]);
  const reading = requests.readingRequests(document, subjects);
  let answers = await fetchAll(url, reading, known);
  // Some values are read or computed because of a request, and are there for the next one.
  for (let pass = 1, changed = ['none yet']; changed.length > 0; pass++) {
    if (pass === PASSES_MAX) throw new Error(`Responses still change:\n${changed.join('\n')}`);
    const again = await fetchAll(url, reading, known);
    changed = differences({ startedAt, answers }, { startedAt, answers: again });
    console.log(`pass ${pass}: ${changed.length} responses changed`);
    answers = again;
  }
  const once = [...requests.badRequests(), ...requests.stagedRequests(subjects)];
  answers = [...answers, ...(await fetchAll(url, once, known))];
  if (answers.length < LEAST_REQUESTS) throw new Error(`Only ${answers.length} requests were recorded`);
  return { startedAt, answers };
}

/** Waits until no block and no version is missing. */
async function untilIndexed(
  url: string,
  entry: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
  const until = performance.now() + PATIENCE_MS;
  for (; performance.now() < until; await sleep(500)) {
    if (!(await fetch(`${url}/synced`)).ok) continue;
    const { stdout } = await promisify(execFile)(process.execPath, [entry, 'gaps', '--json'], { env });
    const chains = JSON.parse(stdout) as readonly { readonly gaps: readonly unknown[] }[];
    if (chains.length === 2 && chains.every(({ gaps }) => gaps.length === 0)) return;
  }
  throw new Error(`The chains weren't indexed in ${PATIENCE_MS} ms`);
}

/** One after the other. @param known values of names in braces, to which responses add */
async function fetchAll(url: string, requested: readonly requests.RecordedRequest[], known: Map<string, string>) {
  const fill = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (name) => known.get(name.slice(1, -1)) ?? name);
  const answers: Answer[] = [];
  for (const { method, path, body, keep = [], until = /^/ } of requested) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'x-api-key': KEY, ...(text !== undefined && { 'content-type': 'application/json' }) };
    const sent = { method, headers, ...(text !== undefined && { body: fill(text) }) };
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const response = await fetch(url + fill(path), sent);
      const { status, headers: got } = response;
      const received = await response.text();
      if (!until.test(received)) {
        if (performance.now() > end) throw new Error(`${method} ${path} never returned ${until}: ${received}`);
        await sleep(100);
        continue;
      }
      known.set('cursor', /"cursor":"([^"]+)"/.exec(received)?.[1] ?? 'none');
      for (const name of keep) known.set(name, /"id":"([^"]+)"/.exec(received)?.[1] ?? 'none');
      const request = [method, path, text].join(' ').trim();
      answers.push({ request, status, type: got.get('content-type'), body: received });
      break;
    }
  }
  return answers;
}

/** One text for each request whose responses differ. */
function differences(before: Recording, after: Recording): string[] {
  const [left, right] = [textsOf(before), textsOf(after)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((request) => {
    const [a, b] = [left.get(request) ?? '(not recorded)', right.get(request) ?? '(not recorded)'];
    if (a === b) return [];
    let from = 0;
    while (a[from] === b[from]) from += 1;
    const shown = [a, b].map((text) => text.slice(Math.max(0, from - SHOWN / 3), from + SHOWN));
    return [`${request.slice(0, 2 * SHOWN)}\n  - ${shown[0]}\n  + ${shown[1]}`];
  });
}

/** Responses by request, without ids and times. Times of the chain stay. */
function textsOf({ answers, startedAt }: Recording): Map<string, string> {
  const timeless = (text: string): string => {
    const time = Number(text) * (text.length === 10 ? 1_000 : 1) || Date.parse(text);
    return time > startedAt - 1_000 && time < startedAt + HOUR_MS ? '<time>' : text;
  };
  const texts = new Map<string, string>();
  for (const { request, status, type, body } of answers) {
    let name = request;
    for (let count = 2; texts.has(name); count++) name = `${request} (${count})`;
    const text = NORMALIZED.reduce(
      (rest, [pattern, replacement]) => rest.replaceAll(pattern, replacement),
      body.replaceAll(TIME, timeless),
    );
    texts.set(name, `${status} ${type} ${text}`);
  }
  return texts;
}
