import { parseAbi } from 'viem';
import { compileContracts } from './compile-contracts.ts';
import type { CompiledContract } from './compile-solidity.ts';

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
export const DEMO_NFT_ABI = parseAbi([
  'function mint(address to, uint256 tokenId)',
  'function transferFrom(address from, address to, uint256 tokenId)',
  'function supportsInterface(bytes4) view returns (bool)',
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
