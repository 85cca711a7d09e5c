import { type Address, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { withWait } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { compileSolidity } from '@chainstead/testkit';
import { createCollectionOwnersRoutes } from '../../owners/owners-routes.ts';
import { metadataRoutes } from '../../single-nfts/metadata-routes.ts';
import { followTransfers } from '../../transfers/testing/follow-transfers.ts';
import { createWalletCollectionsRoute } from '../../wallet-collections/wallet-collections-route.ts';
import { createWalletNftsRoute } from '../../wallet-nfts/wallet-nfts-route.ts';
import { createHeldNow, nftAmountsNow, nftOwnersNow } from '../held-readers.ts';

/** A collection on a real node whose chain is indexed, and the routes that show its holders. */
export interface FollowedCollection {
  readonly stage: StateStage;
  readonly address: Address;
  /** Three accounts of the node. */
  readonly wallets: readonly Address[];
  /** Earlier blocks are in no index. */
  follow(startBlock: number): void;
  /** Sends one transaction from the node's first account in a separate block. */
  send(functionName: string, args: readonly unknown[]): Promise<void>;
  /** The contract's result after the newest block. */
  read(functionName: string, args: readonly unknown[]): Promise<unknown>;
  head(): Promise<number>;
  /** A route's response. @throws Error unless its status is 200 */
  ask<Answer>(path: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Maximum reorg depth of the chain. */
export const REORG_DEPTH_MAX = 6;
const WAIT_MS = 5_000;

/** Deploys the only contract of a Solidity source. */
export async function openFollowedCollection(contract: {
  readonly source: string;
  readonly name: string;
}): Promise<FollowedCollection> {
  const facts = { pollIntervalMs: 20, blockTimeMs: 100, reorgDepthMax: REORG_DEPTH_MAX, finalizedTag: false };
  const stage = await openStateStage({ chain: facts });
  const { scratch, devnet, nodeReads } = stage;
  const { name, source } = contract;
  const compiled = (await compileSolidity({ [`${name}.sol`]: source })).get(name);
  if (compiled === undefined) throw new Error(`${name} was not compiled`);
  const wallets = devnet.accounts.slice(0, 3);
  const address = await devnet.deploy(compiled);
  await stage.startWorker([nftOwnersNow, nftAmountsNow]);
  const heldNow = createHeldNow({
    database: scratch.database,
    nodeReads: { request: (...asked) => waitingAtMost(WAIT_MS, () => nodeReads.request(...asked)) },
    logger: silentLogger(),
  });
  const shared = { projections: createSubjectProjections(scratch.database), heldNow };
  const ofWallet = { ...shared, onDemandBackfill: { requestWallet: async () => 'unserved' as const } };
  const api = await exampleApi(
    scratch.database,
    [
      createWalletNftsRoute(ofWallet),
      createWalletCollectionsRoute(ofWallet),
      ...createCollectionOwnersRoutes({
        ...shared,
        onDemandBackfill: { requestContract: async () => 'unserved' },
      }),
      // No worker reads metadata here: only reads of holders are waited for.
      withWait({ waitMs: 0 }, metadataRoutes({ onDemand: { perKey: 50 }, clock: systemClock, heldNow })),
    ],
    { onDemand: { waitMs: WAIT_MS } },
  );
  let stop = async (): Promise<void> => {};
  return {
    stage,
    address,
    wallets,
    follow(startBlock) {
      stop = followTransfers({ chain: stage.chain, pool: stage.pool, database: scratch.database }, startBlock);
    },
    async send(functionName, args) {
      await devnet.send({ address, abi: compiled.abi, functionName, args });
    },
    read: (functionName, args) => devnet.client.readContract({ address, abi: compiled.abi, functionName, args }),
    head: async () => Number(await devnet.client.getBlockNumber({ cacheTime: 0 })),
    async ask<Answer>(path: string): Promise<Answer> {
      const answer = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Answer;
    },
    async close() {
      await stop();
      await stage.close();
    },
  };
}
