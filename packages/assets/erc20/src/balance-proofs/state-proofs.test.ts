import { createMetricsRegistry, type Hash, silentLogger } from '@chainstead/core';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { addressOf, createScriptedChain, exampleChain, hashOf, serveScriptedChain } from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { createStateProofs } from './state-proofs.ts';

const chain = exampleChain();
const { signal } = new AbortController();

it('gives up after three upstreams whose proofs do not hold', async () => {
  const scripted = createScriptedChain({ seed: 1, chainId: chain.id, wallets: 4 });
  scripted.mine(3);
  const requested = new Set<number>();
  const nodes = await Promise.all(
    [0, 1, 2, 3, 4].map((place) =>
      serveScriptedChain(scripted, {
        methods: (_view, methods) =>
          new Map([
            ...methods,
            [
              'eth_getProof',
              ([address]) => {
                requested.add(place);
                // The account in the empty state.
                return { result: { address, balance: '0x0', nonce: '0x0', accountProof: [], storageProof: [] } };
              },
            ],
          ]),
      }),
    ),
  );
  const upstreams = nodes.map(({ url }) => ({ url }));
  const pool = createUpstreamPool({ chain, upstreams, logger: silentLogger(), metrics: createMetricsRegistry() });
  onTestFinished(async () => {
    await pool.close();
    for (const node of nodes) await node.close();
  });
  await pool.start();
  const block = scripted.blockAt(3);
  if (block === undefined) throw new Error('Block 3 is missing');
  const proofs = createStateProofs({ pool, chain, block });
  await expect(proofs.read(addressOf(1), [], signal)).rejects.toMatchObject({ reason: 'no-proof-from-upstream' });
  expect(proofs.refused).toHaveLength(3);
  expect(requested.size).toBe(3);
});

it('says which of two reasons it has no state root for', async () => {
  const scripted = createScriptedChain({ seed: 2, chainId: chain.id, wallets: 4 });
  scripted.mine(3);
  const node = await serveScriptedChain(scripted, {
    methods: (_view, methods) =>
      new Map([
        ...methods,
        [
          'eth_getBlockByHash',
          async (params) => {
            const reply = await methods.get('eth_getBlockByHash')?.(params);
            if (reply === undefined || !('result' in reply) || reply.result === null) return { result: null };
            return { result: { ...Object(reply.result), stateRoot: `0x${'1'.repeat(64)}` } };
          },
        ],
      ]),
  });
  const metrics = createMetricsRegistry();
  const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger: silentLogger(), metrics });
  onTestFinished(async () => {
    await pool.close();
    await node.close();
  });
  await pool.start();
  const block = scripted.blockAt(3);
  if (block === undefined) throw new Error('Block 3 is missing');
  const reasonOf = (one: { readonly number: number; readonly hash: Hash }) =>
    expect(createStateProofs({ pool, chain, block: one }).read(addressOf(1), [], signal)).rejects;
  await reasonOf(block).toMatchObject({ reason: 'header-not-verifiable' });
  await reasonOf({ number: 3, hash: hashOf(0xdead, 3) }).toMatchObject({ reason: 'no-proof-from-upstream' });
});
