/** A devnet with compiled contracts, the real program over it, and its command `contracts`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@chainstead/core';
import { type CompiledContract, closeOf, compileSolidity, startProgram } from '@chainstead/testkit';
import type { TransactionReceipt } from 'viem';
import { expect } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';

export interface ContractsStage extends DevnetProgramStage {
  /** Returns a contract of the sources. */
  contractOf(name: string): CompiledContract;
  /** Path of the ABI of a contract, as an artifact. */
  abiOf(name: string): string;
  /** Sends a transaction to a contract, and waits until it is mined. */
  send(
    name: string,
    address: Address,
    functionName: string,
    ...args: readonly unknown[]
  ): Promise<TransactionReceipt>;
  /** Runs `chainstead contracts`, and returns its output. */
  runContracts(...args: readonly string[]): Promise<string>;
}

/** @param source Solidity @param settings of `contracts`, in addition to those of the chain */
export async function openContractsStage(
  chainId: number,
  source: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ContractsStage> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'contracts-devnet-')), (one) =>
    rm(one, { recursive: true }),
  );
  const compiled = await compileSolidity({ 'Contracts.sol': source });
  const abiOf = (name: string): string => join(folder, `${name}.json`);
  for (const { name, abi } of compiled.values()) await writeFile(abiOf(name), JSON.stringify({ abi }));
  const stage = parts.adopt(await openDevnetProgramStage(chainId), (one) => one.close());
  const contractOf = (name: string): CompiledContract => {
    const found = compiled.get(name);
    if (found === undefined) throw new Error(`${name} was not compiled`);
    return found;
  };
  return {
    ...stage,
    contractOf,
    abiOf,
    send: (name, address, functionName, ...args) =>
      stage.devnet.send({ address, abi: contractOf(name).abi, functionName, args }),
    async runContracts(...args) {
      const environment = {
        ...{ DATABASE_URL: stage.scratch.url, CHAINS: 'devnet', CHAIN_ID_DEVNET: String(chainId) },
        ...{ RPC_URLS_DEVNET: stage.devnet.url, LOG_LEVEL: 'warn', ...settings },
      };
      const program = startProgram(['contracts', ...args], { environment });
      expect(await program.exited, program.output()).toBe(0);
      return program.output();
    },
    ...closeOf(parts),
  };
}
