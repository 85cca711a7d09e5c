import type { Chain } from '@chainstead/chains';
import { parseAddress, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import { createOnDemandBudget } from '@chainstead/http';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { type Closable, closeOf, exampleChain, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { createNameReader } from '../name-reader.ts';
import { createResolveRoutes } from '../resolve-routes.ts';
import { deployNameContract, type NameContract } from './name-contracts.ts';

/** The routes behind a real socket, with a worker that asks contracts on a devnet, which stands for every chain. */
export interface NameStage extends Closable {
  readonly stage: StateStage;
  readonly resolver: NameContract;
  /** Of Polygon, and of Base. */
  readonly registries: readonly [NameContract, NameContract];
  readonly sdk: Moralis;
  readonly settings: NameStageSettings;
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }>;
  /** Sends a transaction to one of the contracts. */
  set(contract: NameContract, functionName: string, ...args: readonly unknown[]): Promise<void>;
  /** Deletes stored readings, and lets the node respond correctly. */
  reset(): Promise<void>;
}

export interface NameStageSettings {
  waitMs: number;
  maxCalls: number;
  /** That names are read from. */
  chains: readonly Chain[];
}

export async function openNameStage(gateways: Egress | null = null): Promise<NameStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(await openStateStage(), (one) => one.close());
  const { devnet, pool, scratch } = stage;
  const resolver = await deployNameContract(devnet, 'Resolver');
  const registries = [
    await deployNameContract(devnet, 'Registry'),
    await deployNameContract(devnet, 'Registry'),
  ] as const;
  const of = ({ address }: NameContract) => ({ records: address, reverse: address });
  const reader = createNameReader({
    nodes: [stage.chain, exampleChain({ id: 137, key: 'polygon' }), exampleChain({ id: 8_453, key: 'base' })].map(
      (chain) => ({ chain, pool }),
    ),
    gateways,
    contracts: {
      universalResolver: resolver.address,
      unstoppable: { polygon: of(registries[0]), base: of(registries[1]), eth: nothingThere() },
    },
  });
  await stage.startWorker([reader]);
  const usual: NameStageSettings = { waitMs: 15_000, maxCalls: 10_000, chains: [stage.chain] };
  const settings = { ...usual };
  const routes = createResolveRoutes({
    database: scratch.database,
    nodeReads: stage.nodeReads,
    get chains() {
      return settings.chains;
    },
    budget: createOnDemandBudget({
      perKey: 100,
      get maxCalls() {
        return settings.maxCalls;
      },
    }),
    logger: silentLogger(),
  });
  const server: ApiServer = parts.adopt(
    await serveApi(await exampleApi(scratch.database, [routes], { onDemand: settings }), {
      host: '127.0.0.1',
      port: 0,
    }),
    (one) => one.close(),
  );
  const { Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url });
  return {
    ...{ stage, resolver, registries, sdk, settings },
    async ask(path) {
      const answer = await fetch(`${server.url}/api/v2.2/resolve/${path}`, {
        headers: { 'x-api-key': EXAMPLE_KEY },
      });
      return { status: answer.status, body: await answer.json(), headers: answer.headers };
    },
    async set({ address, code }, functionName, ...args) {
      await devnet.send({ address, abi: code.abi, functionName, args });
    },
    async reset() {
      Object.assign(settings, usual);
      stage.node.alter = () => undefined;
      await scratch.database.query(sql`TRUNCATE state_questions, resolved_names`);
    },
    ...closeOf(parts),
  };
}

function nothingThere() {
  const address = parseAddress(`0x${'00'.repeat(19)}aa`);
  return { records: address, reverse: address };
}
