/** A devnet and a database for the tests of one file, in which roles search for wallets' activity. For tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type CompiledContract,
  compileActivityContracts,
  createScratchDatabase,
  type Devnet,
  type ScratchDatabase,
  startDevnet,
} from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, onTestFinished, vi } from 'vitest';
import type { WalletSearch } from '../read-wallet-search.ts';
import { untilCaughtUp } from './until-caught-up.ts';
import {
  emptyStage,
  halvingPool,
  requestFor,
  type StageOptions,
  type StageRoles,
  stageChain,
  startRoles,
} from './wallet-stage.ts';
import type { WalletsProcessOptions } from './wallets-process.ts';

/** Each test has a separate devnet, and no rows. */
export interface DevnetWallets {
  readonly chain: Chain;
  readonly scratch: ScratchDatabase;
  readonly devnet: Devnet;
  /** Roles that end with their test, as does their pool. Default: both, over a node without an account index. */
  open(options?: Partial<StageOptions>): Promise<StageRoles>;
  ask(roles: StageRoles, wallet: Address): Promise<WalletSearch>;
  /** Waits until the newest block is indexed. */
  caughtUp(): Promise<void>;
  /** Two processes that work until their test ends. */
  beginProcesses(nodeUrl: string): KillableProcesses;
}

export interface KillableProcesses {
  /** Kills one of them, and starts another in its place once it has ended. */
  replace(place: number): Promise<void>;
}

/** @param args of the devnet */
export function devnetWallets(chainId: number, args: readonly string[] = []): DevnetWallets {
  const chain = stageChain(chainId);
  let scratch: ScratchDatabase;
  let devnet: Devnet;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());
  beforeEach(async () => {
    await emptyStage(scratch.database);
    devnet = await startDevnet({ chainId, args });
  });
  afterEach(() => devnet.stop());
  return {
    chain,
    get scratch() {
      return scratch;
    },
    get devnet() {
      return devnet;
    },
    async open(options = {}) {
      const pool = options.pool ?? (await halvingPool(chain, devnet.url));
      const { database } = scratch;
      const roles = await startRoles({ database, chain, ...options, pool });
      onTestFinished(async () => {
        await roles.stop();
        await pool.close();
      });
      return roles;
    },
    ask: ({ requested }, wallet) => requestFor(requested, scratch.database, chain, wallet),
    caughtUp: () => untilCaughtUp(devnet, scratch.database),
    beginProcesses(nodeUrl) {
      const options: WalletsProcessOptions = { databaseUrl: scratch.url, chainId, nodeUrl };
      const script = fileURLToPath(new URL('wallets-process.ts', import.meta.url));
      const begin = (): ChildProcess =>
        spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] });
      const processes = [begin(), begin()];
      onTestFinished(() => {
        for (const one of processes) one.kill('SIGKILL');
      });
      return {
        async replace(place) {
          const [one] = processes.splice(place, 1, begin());
          const ended = one === undefined ? null : once(one, 'exit');
          one?.kill('SIGKILL');
          await ended;
        },
      };
    },
  };
}

/** The contract `Playground` on each test's devnet, and plain transfers. */
export interface Playground {
  readonly address: Address;
  play(functionName: string, args: readonly unknown[], value?: bigint, from?: Address): Promise<void>;
  /** @returns its block */
  transfer(from: Address, to: Address, value: bigint): Promise<number>;
}

export function playgroundOn(stage: DevnetWallets): Playground {
  let contract: CompiledContract;
  let address: Address;
  beforeAll(async () => {
    contract = (await compileActivityContracts())('Playground');
  });
  beforeEach(async () => {
    address = await stage.devnet.deploy(contract);
  });
  return {
    get address() {
      return address;
    },
    async play(functionName, args, value = 0n, from) {
      const call = { address, abi: contract.abi, functionName, args, value, gas: 600_000n };
      await stage.devnet.send({ ...call, ...(from === undefined ? {} : { from }) });
    },
    async transfer(from, to, value) {
      const { client } = stage.devnet;
      const hash = await client.sendTransaction({ account: from, to, value, gas: 100_000n, chain: null });
      const { blockNumber } = await vi.waitFor(() => client.getTransactionReceipt({ hash }), { interval: 5 });
      return Number(blockNumber);
    },
  };
}
