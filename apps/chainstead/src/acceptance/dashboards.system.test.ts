/** Every curve of the dashboards has something to draw: the running program is asked for what they ask Prometheus for. */
import { once } from 'node:events';
import type { Address } from '@chainstead/core';
import { deployMarket } from '@chainstead/testkit';
import { parseEther } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExposedSeries, isSelected, readSeries } from '../testing/exposed-series.ts';
import { readDashboards, readDocumentedMetrics } from '../testing/monitoring-files.ts';
import { readSelectors } from '../testing/promql.ts';
import { waitUntil } from './indexed-chain.ts';
import { awaitWebhook, CONFIRMATIONS, createStreamStage, STREAM_STAGE_KEY, type StreamStage } from './stream-stage.ts';

/** Of the program as it is started here: no network of Aptos, and a database of its own without standbys. */
const IS_OFF = /^chainstead_(?:aptos|disk|database_reads|database_standby)_/;
/** What they count did not happen here. */
const NEVER_HAPPENED = new Set([
  'chainstead_gateway_sockets_ended_total',
  'chainstead_gateway_sockets_refused_total',
  'chainstead_histories_total',
  'chainstead_nft_traits_total',
  'chainstead_rpc_faults_total',
  // Nothing is allowed less than all.
  'chainstead_rpc_rate_allowed',
  'chainstead_rpc_turns_waiting',
  'chainstead_stream_status_changes_total',
  'chainstead_sync_dropped_rows_total',
  'chainstead_sync_prover_repaired_blocks_total',
  'chainstead_sync_prover_seconds_left',
  'chainstead_work_set_aside_total',
]);
/** Conditions on them choose what goes wrong: other values of the same counter are enough. */
const OUTCOMES = new Set(['kind', 'outcome', 'reason', 'status']);
/** Added by Prometheus, or where a role has several processes. */
const NOT_FROM_HERE = new Set(['instance', 'job', 'process']);

let stage: StreamStage;
let metricsAddress: string;
let socket: WebSocket | undefined;

beforeAll(async () => {
  stage = await createStreamStage(1_337_046, { METRICS_PORT: '0' });
  await waitUntil(() => (/Metrics {3}http/.test(stage.program.output()) ? null : stage.program.output()));
  [, metricsAddress = ''] = /Metrics {3}(http\S+)/.exec(stage.program.output()) ?? [];
});
afterAll(async () => {
  socket?.close();
  await stage?.close();
});

async function scrape(): Promise<readonly ExposedSeries[]> {
  return readSeries(await (await fetch(metricsAddress)).text());
}

async function call(method: string, params: readonly unknown[] = []): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  await (await fetch(`${stage.address}/devnet/${STREAM_STAGE_KEY}`, { method: 'POST', headers, body })).text();
}

/** Something of everything: a block with transfers that a stream tells of, pages that have balances read, JSON-RPC and a subscription. */
async function useEverything(): Promise<void> {
  const { devnet, token } = stage;
  const { cats } = await deployMarket(devnet);
  const [alice, bob] = devnet.accounts.slice(5) as [Address, Address];
  const receiver = await stage.receive();
  const streamId = await stage.watch(receiver, { includeNativeTxs: true }, [alice]);
  await devnet.send({ ...token, functionName: 'mint', args: [alice, 1_000n] });
  await devnet.send({ ...cats, functionName: 'mint', args: [alice, 9_101n] });
  const hash = await devnet.client.sendTransaction({ account: alice, to: bob, value: parseEther('0.1'), chain: null });
  const { blockNumber } = await devnet.client.waitForTransactionReceipt({ hash });
  await devnet.mine(CONFIRMATIONS);
  await awaitWebhook(stage, receiver, streamId, { blockNumber, confirmed: true });
  for (const path of [
    `/api/v2.2/${alice}/balance`,
    `/api/v2.2/wallets/${alice}/tokens`,
    `/api/v2.2/${alice}/nft`,
    `/api/v2.2/nft/${cats.address}/metadata`,
  ])
    expect((await stage.ask('GET', `${path}?chain=devnet`)).status, path).toBeLessThan(500);
  for (const method of ['eth_blockNumber', 'eth_newBlockFilter', 'eth_inventedHere']) await call(method);
  await call('eth_getBlockByNumber', ['0x1', false]);
  socket = new WebSocket(`${stage.address.replace('http', 'ws')}/devnet/${STREAM_STAGE_KEY}`);
  await once(socket, 'open');
  const told = once(socket, 'message');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
  await told;
  await devnet.mine();
}

test('every series of the dashboards is told by the program, with the labels that they group it by', async () => {
  await useEverything();
  const selectors = readDashboards()
    .flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => readSelectors(expr))))
    .filter(({ metric }) => !IS_OFF.test(metric) && !NEVER_HAPPENED.has(metric));
  expect(selectors.length).toBeGreaterThan(80);
  await waitUntil(async () => {
    const series = await scrape();
    const missing = selectors.filter((selector) => {
      const needed = [...selector.groupedBy, ...selector.matchers.map(({ label }) => label)];
      return !series.some(
        (one) =>
          isSelected(one, selector, OUTCOMES) &&
          needed.every((label) => NOT_FROM_HERE.has(label) || Object.hasOwn(one.labels, label)),
      );
    });
    return missing.length === 0 ? null : `Not told: ${JSON.stringify(missing)}\n${stage.program.output()}`;
  });
});

test('every documented metric is registered, and none is on the port of the API', async () => {
  const text = await (await fetch(metricsAddress)).text();
  const registered = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name));
  const documented = new Set(
    [...readDocumentedMetrics().keys()].map((name) => name.replace(/_(?:bucket|sum|count)$/, '')),
  );
  const missing = [...documented].filter((name) => !registered.has(name) && !IS_OFF.test(name));
  expect(missing).toEqual([]);
  expect((await fetch(`${stage.address}/metrics`, { headers: { 'x-api-key': STREAM_STAGE_KEY } })).status).toBe(404);
});

test('what moved is counted', async () => {
  const series = await scrape();
  const total = (metric: string, labels: Readonly<Record<string, string>> = {}): number =>
    series
      .filter(
        (one) => one.metric === metric && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
      )
      .reduce((sum, { value }) => sum + value, 0);
  expect(total('chainstead_stream_matches_total', { chain: 'devnet', role: 'ingest' })).toBeGreaterThan(0);
  expect(total('chainstead_webhooks_total', { result: 'delivered' })).toBeGreaterThanOrEqual(2);
  expect(total('chainstead_role_processes')).toBe(3);
  expect(total('chainstead_role_restarts_total')).toBe(0);
  expect(total('chainstead_table_size_bytes', { table: 'erc20_transfers' })).toBeGreaterThan(0);
  expect(total('chainstead_database_up')).toBe(3);
  for (const role of ['api', 'ingest', 'worker'])
    expect(total('chainstead_database_wait_seconds_count', { role, pool: 'main' }), role).toBeGreaterThan(0);
});
