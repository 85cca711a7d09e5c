import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { placeOfHash } from '@chainstead/node-reads';
import { hasCodeOf } from '@chainstead/node-reads/account-codes';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { closeOf } from '@chainstead/testkit';
import { createNameReader } from '@chainstead/tokens/names';
import { deployNameContract } from '@chainstead/tokens/names/testing';
import { createDatasetRoutes, stateReaders } from 'chainstead/src/datasets/index.ts';
import { encodeAbiParameters, type Hex, toHex } from 'viem';
import { packetToBytes } from 'viem/ens';
import { type ConsoleStage, openConsoleStage } from './console-stage.ts';

const registry = createChainRegistry();
export const ETH: Chain = registry.get('eth');
/** Longer than a node here takes on a busy machine. */
const WAIT_MS = 4_000;

/** The console with a real node in place of Ethereum, names of both services, and a worker. */
export interface NodeExplorerStage extends ConsoleStage {
  readonly nodes: StateStage;
  /** Sets the address of an ENS name. */
  setName(name: string, address: Address): Promise<void>;
  /** Sets the primary ENS name of an address. */
  setOwnName(address: Address, name: string): Promise<void>;
  /** Deletes read data, and resets the node to correct responses. */
  reset(): Promise<void>;
}

export async function openNodeExplorerStage(): Promise<NodeExplorerStage> {
  await using parts = new AsyncDisposableStack();
  const nodes = parts.adopt(await openStateStage(), (one) => one.close());
  const { devnet, pool, scratch, chain, nodeReads } = nodes;
  const resolver = await deployNameContract(devnet, 'Resolver');
  const reader = createNameReader({
    nodes: [{ chain, pool }],
    gateways: null,
    contracts: { universalResolver: resolver.address },
  });
  await nodes.startWorker([...stateReaders, reader]);
  const reading = { database: scratch.database, nodeReads, logger: silentLogger() };
  const stage = parts.adopt(
    await openConsoleStage({
      scratch,
      chains: [ETH],
      explorer: {
        routes: createDatasetRoutes({
          ...{ database: scratch.database, nodeReads, chains: [ETH], nameChains: [ETH] },
          onDemand: { waitMs: WAIT_MS, maxCalls: 10_000, perKey: 100 },
          clock: systemClock,
          logger: silentLogger(),
        }),
        placeOf: (_, hash) => waitingAtMost(WAIT_MS, () => placeOfHash(reading, chain, hash)),
        hasCodeOf: (_, addresses) => waitingAtMost(WAIT_MS, () => hasCodeOf(reading, chain, addresses)),
        nameServices: ['ens', 'unstoppable'],
      },
    }),
    (one) => one.close(),
  );
  const set = (functionName: string, ...args: readonly unknown[]) =>
    devnet.send({ address: resolver.address, abi: resolver.code.abi, functionName, args });
  return {
    ...stage,
    nodes,
    async setName(name, address) {
      await set(
        'setAnswer',
        toHex(packetToBytes(name)),
        encodeAbiParameters([{ type: 'address' }], [address as Hex]),
      );
    },
    async setOwnName(address, name) {
      await set('setName', address, name);
    },
    async reset() {
      nodes.node.alter = () => undefined;
      await scratch.database.query(sql`TRUNCATE state_questions, resolved_names`);
    },
    ...closeOf(parts),
  };
}
