import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Hex } from '@chainstead/core';
import { unlessMissing } from '@chainstead/db/server';
import { type Abi, parseAbi } from 'viem';
import { DemoError } from '../demo-error.ts';
import { requireDemoTool } from './demo-tools.ts';

export interface CompiledContract {
  readonly name: string;
  readonly abi: Abi;
  readonly bytecode: Hex;
}

interface Solc {
  version(): string;
  compile(input: string, callbacks: { import(path: string): { contents: string } | { error: string } }): string;
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<string, Readonly<Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>>
  >;
}

/** Without metadata, bytecode depends on sources and settings only. */
const SETTINGS = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
};

/** By name, cached by sources. @throws DemoError with the compiler's messages */
export async function compileSolidity(
  sources: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, CompiledContract>> {
  // A folder of this user: files of others in shared temporary folders are never deployed.
  const folder = join(tmpdir(), `chainstead-solidity-${userInfo().uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const cacheFile = join(folder, `${cacheKey(sources)}.json`);
  const cached = await unlessMissing(readFile(cacheFile, 'utf8'));
  const contracts: readonly CompiledContract[] = cached === undefined ? compile(sources) : JSON.parse(cached);
  if (cached === undefined) {
    const partial = `${cacheFile}.${process.pid}`;
    await writeFile(partial, JSON.stringify(contracts));
    await rename(partial, cacheFile);
  }
  return new Map(contracts.map((contract) => [contract.name, contract]));
}

function compile(sources: Readonly<Record<string, string>>): CompiledContract[] {
  const require = requireDemoTool();
  const solc: Solc = require('solc');
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(sources).map(([file, content]) => [file, { content }])),
    settings: SETTINGS,
  };
  const readImport = (path: string) => {
    try {
      return { contents: readFileSync(require.resolve(path), 'utf8') };
    } catch (error) {
      return { error: String(error) };
    }
  };
  const output: SolcOutput = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
  const errors = (output.errors ?? [])
    .filter((one) => one.severity === 'error')
    .map((one) => one.formattedMessage);
  if (errors.length > 0)
    throw new DemoError(`Solidity does not compile: ${errors.join('\n')}`, { files: Object.keys(sources) });
  return Object.keys(sources).flatMap((file) =>
    Object.entries(output.contracts?.[file] ?? {}).map(([name, { abi, evm }]) => ({
      name,
      abi,
      bytecode: `0x${evm.bytecode.object}` as const,
    })),
  );
}

function cacheKey(sources: Readonly<Record<string, string>>): string {
  const require = requireDemoTool();
  const versions = ['solc', '@openzeppelin/contracts'].map((name) => require(`${name}/package.json`).version);
  return createHash('sha256')
    .update(JSON.stringify([versions, SETTINGS, sources]))
    .digest('hex');
}

export async function compileContracts<Name extends string>(
  names: readonly Name[],
): Promise<(name: Name) => CompiledContract> {
  const files = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(`../../../contracts/${name}.sol`, import.meta.url), 'utf8');
      return [`${name}.sol`, text] as const;
    }),
  );
  const compiled = await compileSolidity(Object.fromEntries(files));
  return (name) => {
    const found = compiled.get(name);
    if (found === undefined) throw new DemoError(`${name}.sol has no contract ${name}`);
    return found;
  };
}

export type DemoContractName = 'DemoToken' | 'Bytes32Token' | 'ThreeTopicNft' | 'DemoNft';

export const DEMO_TOKEN_ABI = parseAbi([
  'constructor(string name, string symbol, uint8 decimals)',
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function mint(address to, uint256 value)',
  'function burn(uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferMany(address[] to, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

export async function compileDemoContracts(): Promise<Readonly<Record<DemoContractName, CompiledContract>>> {
  const contract = await compileContracts<DemoContractName>([
    'DemoToken',
    'Bytes32Token',
    'ThreeTopicNft',
    'DemoNft',
  ]);
  return {
    DemoToken: contract('DemoToken'),
    Bytes32Token: contract('Bytes32Token'),
    ThreeTopicNft: contract('ThreeTopicNft'),
    DemoNft: contract('DemoNft'),
  };
}
