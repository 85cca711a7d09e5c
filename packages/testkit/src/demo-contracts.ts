import { readFile } from 'node:fs/promises';
import { parseAbi } from 'viem';
import { type CompiledContract, compileSolidity } from './compile-solidity.ts';
import { TestkitError } from './testkit-error.ts';

/** Names of the contracts in this package's `contracts` folder. */
export type DemoContractName = 'DemoToken' | 'Bytes32Token' | 'ThreeTopicNft' | 'DemoNft';

const NAMES: readonly DemoContractName[] = ['DemoToken', 'Bytes32Token', 'ThreeTopicNft', 'DemoNft'];

/** What the demo contracts understand, for typed calls. */
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
/** `DemoNft` and `ThreeTopicNft`. */
export const DEMO_NFT_ABI = parseAbi([
  'function mint(address to, uint256 tokenId)',
  'function transferFrom(address from, address to, uint256 tokenId)',
  'function supportsInterface(bytes4) view returns (bool)',
]);

/** Compiles the demo contracts, or takes them from the compiler's cache. */
export async function compileDemoContracts(): Promise<Readonly<Record<DemoContractName, CompiledContract>>> {
  const files = await Promise.all(
    NAMES.map(async (name) => {
      const text = await readFile(new URL(`../contracts/${name}.sol`, import.meta.url), 'utf8');
      return [`${name}.sol`, text] as const;
    }),
  );
  const compiled = await compileSolidity(Object.fromEntries(files));
  const contract = (name: DemoContractName): CompiledContract => {
    const found = compiled.get(name);
    if (found === undefined) throw new TestkitError(`${name}.sol has no contract ${name}`);
    return found;
  };
  return {
    DemoToken: contract('DemoToken'),
    Bytes32Token: contract('Bytes32Token'),
    ThreeTopicNft: contract('ThreeTopicNft'),
    DemoNft: contract('DemoNft'),
  };
}
