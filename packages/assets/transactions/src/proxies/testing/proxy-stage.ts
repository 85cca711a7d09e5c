/** Contracts of a devnet whose calls are decoded with ABIs that were imported for others. For tests. */
import { type Address, type ChainId, type Hex, silentLogger, systemClock } from '@chainstead/core';
import { decodeCall } from '@chainstead/events/decoding';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { type CompiledContract, compileSolidity } from '@chainstead/testkit';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll } from 'vitest';
import { callsOf, createAbiBooks } from '../../abis/abi-books.ts';
import type { RequestedEntry } from '../../abis/find-abis.ts';
import { importAbis } from '../../abis/import-abis.ts';
import { implementationsReader, questionItem } from '../contract-implementations.ts';

/** A call of the function that all of the contracts' ABIs have. */
const ACT = encodeFunctionData({ abi: parseAbi(['function act(uint256 a, string b)']), args: [5n, 'text'] });
export const SELECTOR = ACT.slice(0, 10) as Hex;

export interface ProxyStage {
  readonly stage: StateStage;
  compiled(name: string): CompiledContract;
  deploy(name: string, args?: readonly unknown[]): Promise<Address>;
  /** Imports an ABI in which the first argument of the function has this name. Default: on the stage's chain. */
  importAbi(address: Address, argument: string, chainId?: number): Promise<void>;
  /** Mines one more block on the devnet and indexes it. */
  nextBlock(): Promise<number>;
  /** Runs the worker's read after a page with calls of the contracts. */
  read(block: number, ...addresses: readonly Address[]): Promise<void>;
  /**
   * The source of the matching ABI, the name of its first argument, and whether the implementation is still to be read.
   */
  reported(address: Address, block: number): Promise<{ readonly by: string | null; readonly isUnknown: boolean }>;
}

/** Opens it before the tests of a file, and closes it after them. @param source of the contracts */
export function proxyStage(source: string): ProxyStage {
  let stage: StateStage;
  let contracts: ReadonlyMap<string, CompiledContract>;
  beforeAll(async () => {
    stage = await openStateStage();
    contracts = await compileSolidity({ 'Proxies.sol': source });
  });
  afterAll(() => stage?.close());

  const compiled = (name: string): CompiledContract => {
    const code = contracts.get(name);
    if (code === undefined) throw new Error(`${name} was not compiled`);
    return code;
  };
  return {
    get stage() {
      return stage;
    },
    compiled,
    deploy: (name, args = []) => stage.devnet.deploy(compiled(name), args),
    async importAbi(address, argument, chainId = stage.chain.id) {
      async function* one() {
        const document = parseAbi([`function act(uint256 ${argument}, string text)`] as readonly string[]);
        yield { address, chainId: chainId as ChainId, document };
      }
      await importAbis({ database: stage.scratch.database, place: 'test', abis: one() });
    },
    async nextBlock() {
      await stage.devnet.mine(1);
      return (await stage.commit()).number;
    },
    async read(block, ...addresses) {
      const { chain, pool, scratch } = stage;
      const context = { chain, pool, database: scratch.database, clock: systemClock, logger: silentLogger() };
      const items = addresses.map((address) => questionItem({ address, selector: SELECTOR, block }));
      await implementationsReader.read(context, { items }, AbortSignal.timeout(20_000));
    },
    async reported(address, block) {
      const unknown: RequestedEntry[] = [];
      const books = createAbiBooks({ onUnknown: (_chain, entries) => void unknown.push(...entries) });
      const requested = callsOf([{ block: { number: block }, transaction: { to: address, input: ACT } }]);
      const page = await books.forPage(stage.scratch.database, stage.chain, requested);
      const decoded = decodeCall(ACT, page(address, block));
      const by = decoded === null ? null : `${decoded.source} ${decoded.params[0]?.name}`;
      return { by, isUnknown: unknown.length > 0 };
    },
  };
}
