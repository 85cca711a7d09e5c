import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createUpstreamPool } from '@chainstead/rpc';
import { addressOf, createScriptedChain, exampleChain, serveScriptedChain } from '@chainstead/testkit';
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
