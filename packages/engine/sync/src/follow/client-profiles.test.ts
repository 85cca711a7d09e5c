import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  bendMethods,
  CLIENT_PROFILES,
  type ClientProfile,
  createScriptedChain,
  type RpcHandler,
  serveScriptedChain,
  takeTurns,
} from '@chainstead/testkit';
import { expect, it } from 'vitest';
import type { BlockPart } from '../dataset/whole-block.ts';
import { executedTransactions } from '../read/executed-transactions.ts';
import { readWatchedBlock } from '../read/read-watched-block.ts';

const CHAIN_ID = 31_337;
const BLOCKS = 30;
const chain = createChainRegistry({
  additional: [{ key: 'profiled', id: CHAIN_ID, headerHash: true, proofPolicy: 'strict' }],
}).get(CHAIN_ID);
const scripted = createScriptedChain({ seed: 39, chainId: CHAIN_ID, emptyShare: 0.3, creationShare: 0.1 });
scripted.mine(BLOCKS);

type Methods = ReadonlyMap<string, RpcHandler>;

/** Reads all inputs of rows, from whole blocks and from filtered logs. */
async function readChain(methodsOf: (own: Methods) => Methods) {
  await using parts = new AsyncDisposableStack();
  const node = await serveScriptedChain(scripted, { methods: (_view, own) => methodsOf(own) });
  parts.defer(() => node.close());
  const logger = silentLogger();
  const given = createUpstreamPool({
    chain,
    upstreams: [{ url: node.url }],
    logger,
    metrics: createMetricsRegistry(),
  });
  const pool = parts.adopt(given, (one) => one.close());
  await pool.start();
  const reader = {
    pool,
    chain,
    policy: 'strict' as const,
    logger,
    parts: new Set<BlockPart>(['logs', 'transactions']),
  };
  const blocks: unknown[] = [];
  for (let number = 0; number <= BLOCKS; number++) {
    const block = await readWatchedBlock(reader, number, { transactions: false, internalTransfers: false });
    const rows =
      block === null ? [] : executedTransactions(block).map(({ raw: _raw, receipt: _receipt, ...row }) => row);
    blocks.push({ level: block?.level, parts: block?.parts, logs: block?.logs, rows });
  }
  const { logs } = await pool.getLogs({ range: { from: 0, to: BLOCKS }, topics: [] });
  return { blocks, logs, head: (await pool.getHead()).value.number };
}

const profileOf = (name: string): ClientProfile => {
  const found = CLIENT_PROFILES.find((profile) => profile.name === name);
  if (found === undefined) throw new Error(`No profile is called ${name}`);
  return found;
};
const asSpecified = readChain((own) => own);

it.each(CLIENT_PROFILES)('a chain is read alike from $name', async (profile) => {
  const expected = await asSpecified;
  expect(expected.logs.length).toBeGreaterThan(50);
  expect(await readChain((own) => bendMethods(profile, own))).toEqual(expected);
});

it('a chain is read alike from a load balancer over two of them', async () => {
  const [one, other] = [profileOf('erigon'), profileOf('nethermind')];
  expect(await readChain((own) => takeTurns(bendMethods(one, own), bendMethods(other, own)))).toEqual(
    await asSpecified,
  );
});
