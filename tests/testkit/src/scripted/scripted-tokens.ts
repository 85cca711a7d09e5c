import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { decodeFunctionData, encodeAbiParameters, encodeFunctionResult, parseAbi, stringToHex } from 'viem';
import type { CallOutcome } from '../nodes/chain-source.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** A token contract that answers calls the same way whenever it is asked. */
export interface ScriptedToken {
  readonly address: Address;
  /** `erc721-three-topics`: an NFT whose Transfer event looks like ERC-20's; ERC-165 distinguishes them. */
  readonly kind: 'erc20' | 'erc721' | 'erc721-three-topics' | 'erc1155';
  /** What is peculiar about its answers. */
  readonly trait: string;
  readonly name: CallOutcome;
  readonly symbol: CallOutcome;
  readonly decimals: CallOutcome;
  /** ERC-7572; absent: the contract has no such function. */
  readonly contractUri?: CallOutcome;
  /** What an indexer must come to know; null for hostile answers, where cleaning is a matter of policy. */
  readonly facts: { readonly name: string; readonly symbol: string; readonly decimals: number } | null;
}

/** Where Multicall3 is deployed on most chains. */
export const MULTICALL3_ADDRESS = '0xca11bde05977b3631167028862be2a173976ca11' as Address;

const SELECTOR_NAME = '0x06fdde03';
const SELECTOR_SYMBOL = '0x95d89b41';
const SELECTOR_DECIMALS = '0x313ce567';
const SELECTOR_CONTRACT_URI = '0xe8a3d485';
const SELECTOR_SUPPORTS_INTERFACE = '0x01ffc9a7';
const INTERFACE_ERC165 = '01ffc9a7';
const INTERFACE_ERC721 = '80ac58cd';
const INTERFACE_ERC1155 = 'd9b67a26';

const MULTICALL3 = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
]);

const REVERT: CallOutcome = { revert: '0x' };
const EMPTY: CallOutcome = { data: '0x' };
const text = (value: string): CallOutcome => ({ data: encodeAbiParameters([{ type: 'string' }], [value]) });
const integer = (value: bigint): CallOutcome => ({ data: encodeAbiParameters([{ type: 'uint256' }], [value]) });
const bytes32 = (value: string): CallOutcome => ({ data: stringToHex(value, { size: 32 }) });
/** An ABI string of raw bytes, for what no JavaScript string can hold. */
const rawText = (bytes: Hex): CallOutcome => ({ data: encodeAbiParameters([{ type: 'bytes' }], [bytes]) });

interface Recipe extends Omit<ScriptedToken, 'address' | 'kind'> {
  readonly kind?: ScriptedToken['kind'];
}

function honest(name: string, symbol: string, decimals: number, trait = 'ordinary'): Recipe {
  const facts = { name, symbol, decimals };
  return { trait, name: text(name), symbol: text(symbol), decimals: integer(BigInt(decimals)), facts };
}

function hostile(trait: string, name: CallOutcome, symbol: CallOutcome, decimals = integer(18n)): Recipe {
  return { trait, name, symbol, decimals, facts: null };
}

const RECIPES: readonly Recipe[] = [
  honest('Chain Dollar', 'CUSD', 6),
  honest('Wrapped Ether', 'WETH', 18),
  honest('Wrapped Bitcoin', 'WBTC', 8),
  honest('Indivisible', 'ONE', 0, 'no decimals'),
  honest('Žluťoučký kůň 🐎', '馬', 18, 'letters of many scripts'),
  {
    trait: 'bytes32 name and symbol',
    name: bytes32('Maker'),
    symbol: bytes32('MKR'),
    decimals: integer(18n),
    facts: { name: 'Maker', symbol: 'MKR', decimals: 18 },
  },
  hostile('empty texts', text(''), text('')),
  hostile('reverts', REVERT, REVERT, REVERT),
  hostile('answers nothing', EMPTY, EMPTY, EMPTY),
  hostile('huge text', text('A'.repeat(100_000)), text('B'.repeat(5_000))),
  hostile('bytes that are not UTF-8', rawText('0xff00fe80c3'), rawText('0xc328a0a1')),
  hostile('control characters', text('Tab\tLine\nBell\u0007Escape\u001b[31m'), text('\u202eLTR\u200b')),
  hostile('NUL characters', text('Nul\u0000Token'), text('NU\u0000L')),
  hostile('decimals beyond 255', text('Many Decimals'), text('MANY'), integer(2n ** 256n - 1n)),
  hostile('offset beyond the data', { data: `0x${'f'.repeat(64)}` }, { data: `0x${'00'.repeat(31)}20` }),
  hostile('advertisement', text('Claim at https://free-eth.example'), text('Visit free-eth.example')),
  { ...honest('Scripted Cats', 'CATS', 0), kind: 'erc721', decimals: REVERT },
  { ...honest('Old Punks', 'PUNKS', 0), kind: 'erc721-three-topics', decimals: REVERT },
  { ...honest('Scripted Dogs', 'DOGS', 0), kind: 'erc721', decimals: REVERT },
  { ...honest('Scripted Swords', 'SWORD', 0), kind: 'erc1155', decimals: REVERT },
  { ...honest('Scripted Potions', 'POTION', 0), kind: 'erc1155', decimals: REVERT },
];

/** One token of every recipe, at addresses that depend on the random stream. */
export function createScriptedTokens(random: SeededRandom): readonly ScriptedToken[] {
  return RECIPES.map((recipe) => ({ kind: 'erc20', ...recipe, address: parseAddress(random.hex(20)) }));
}

/** So many tokens with nothing peculiar about them. */
export function createOrdinaryTokens(random: SeededRandom, count: number): readonly ScriptedToken[] {
  return Array.from({ length: count }, (_, index) => ({
    ...honest(`Token ${index}`, `T${index}`, index % 4 === 0 ? 6 : 18),
    kind: 'erc20',
    address: parseAddress(random.hex(20)),
  }));
}

/** So many NFT contracts with nothing peculiar about them; their documents are in their URIs. */
export function createOrdinaryCollections(
  random: SeededRandom,
  counts: { readonly erc721: number; readonly erc1155: number },
): readonly ScriptedToken[] {
  return Array.from({ length: counts.erc721 + counts.erc1155 }, (_, index) => ({
    ...honest(`Collection ${index}`, `C${index}`, 0),
    kind: index < counts.erc721 ? 'erc721' : 'erc1155',
    decimals: REVERT,
    contractUri: text(collectionDocument(index)),
    address: parseAddress(random.hex(20)),
  }));
}

function collectionDocument(index: number): string {
  const document = {
    name: `Collection ${index}`,
    description: 'Ten thousand pictures of what their owners like to be seen with. '.repeat(4),
    image: `https://images.example/collections/${index}/logo.png`,
    banner_image: `https://images.example/collections/${index}/banner.png`,
    external_link: `https://collection-${index}.example`,
    seller_fee_basis_points: 250,
  };
  return `data:application/json;base64,${Buffer.from(JSON.stringify(document)).toString('base64')}`;
}

/** Answers eth_call for the tokens and for Multicall3; any other address has no code and gives `0x`. */
export function createTokenCalls(tokens: readonly ScriptedToken[]): (to: string, data: Hex) => CallOutcome {
  const byAddress = new Map<string, ScriptedToken>(tokens.map((token) => [token.address, token]));
  const call = (to: string, data: Hex): CallOutcome => {
    if (to === MULTICALL3_ADDRESS) return aggregate(data, call);
    const token = byAddress.get(to);
    return token === undefined ? EMPTY : callToken(token, data);
  };
  return call;
}

function callToken(token: ScriptedToken, data: Hex): CallOutcome {
  switch (data.slice(0, 10)) {
    case SELECTOR_NAME:
      return token.name;
    case SELECTOR_SYMBOL:
      return token.symbol;
    case SELECTOR_DECIMALS:
      return token.decimals;
    case SELECTOR_CONTRACT_URI:
      return token.contractUri ?? REVERT;
    case SELECTOR_SUPPORTS_INTERFACE:
      return supportsInterface(token, data.slice(10, 18));
    default:
      return REVERT;
  }
}

/** ERC-20 contracts rarely know ERC-165: they revert. */
function supportsInterface(token: ScriptedToken, interfaceId: string): CallOutcome {
  if (token.kind === 'erc20') return REVERT;
  const own = token.kind === 'erc1155' ? INTERFACE_ERC1155 : INTERFACE_ERC721;
  return integer(interfaceId === INTERFACE_ERC165 || interfaceId === own ? 1n : 0n);
}

function aggregate(data: Hex, call: (to: string, data: Hex) => CallOutcome): CallOutcome {
  const { args } = decodeFunctionData({ abi: MULTICALL3, data });
  const outcomes = args[0].map(({ target, allowFailure, callData }) => ({
    allowFailure,
    outcome: call(target.toLowerCase(), callData),
  }));
  if (outcomes.some(({ allowFailure, outcome }) => !allowFailure && 'revert' in outcome)) return REVERT;
  const result = outcomes.map(({ outcome }) =>
    'data' in outcome
      ? { success: true, returnData: outcome.data }
      : { success: false, returnData: outcome.revert },
  );
  return { data: encodeFunctionResult({ abi: MULTICALL3, functionName: 'aggregate3', result }) };
}
