/** The official SDK reads assets from the running program: what it reads is what the node says, and it gives the body as it was sent. */
import { createHash } from 'node:crypto';
import { type Address, parseAddress } from '@chainstead/core';
import { compileSolidity, type Devnet } from '@chainstead/testkit';
import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { HoldingsScene } from './holdings-scene.ts';
import { type HoldingsStage, openHoldingsStage } from './holdings-stage.ts';
import { readLedger, type SceneLedger } from './scene-ledger.ts';
import { SDK_CALLS } from './sdk-calls.ts';

const CHAIN_ID = 1_337_042;
const SIZE = 7;
/** What an application asks with is read in the background. */
const PATIENT = { timeout: 60_000, interval: 200 };

const ODD_DOCUMENTS = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// Whatever was given for a document.
contract OddDocuments is ERC721 {
    mapping(uint256 => string) private _texts;

    constructor() ERC721("Odd Documents", "ODD") {}

    function mint(address to, uint256 tokenId, string calldata text) external {
        _texts[tokenId] = text;
        _mint(to, tokenId);
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        return string.concat("data:application/json;utf8,", _texts[tokenId]);
    }
}
`;
const GOOD_DOCUMENT = '{"name":"Fine"}';
/** By id, from 1. */
const DOCUMENTS = ['hello', '""', '[]', '5', GOOD_DOCUMENT];

let stage: HoldingsStage;
let scene: HoldingsScene;
let ledger: SceneLedger;
let odd: Address;
let oddHolder: Address;

async function mintOddDocuments(devnet: Devnet): Promise<Record<string, string>> {
  const contract = (await compileSolidity({ 'OddDocuments.sol': ODD_DOCUMENTS })).get('OddDocuments');
  const holder = devnet.accounts.at(-1);
  if (contract === undefined || holder === undefined) throw new Error('There is no contract, or no account');
  odd = await devnet.deploy(contract);
  oddHolder = holder;
  for (const [place, text] of DOCUMENTS.entries())
    await devnet.send({
      address: odd,
      abi: contract.abi,
      functionName: 'mint',
      args: [holder, BigInt(place + 1), text],
    });
  return {};
}

beforeAll(async () => {
  stage = await openHoldingsStage({ chainId: CHAIN_ID, sizes: [SIZE], prepare: mintOddDocuments });
  const [only] = stage.scenes;
  if (only === undefined) throw new Error('There is no scene');
  scene = only;
  await scene.stir();
  await stage.settle();
  ledger = await readLedger(stage.devnet, scene);
});
afterAll(() => stage?.close());

describe('each call of the SDK', () => {
  test.each(SDK_CALLS)('$name', async ({ path, sent, ask, truth }) => {
    await vi.waitFor(async () => {
      const { json, read } = await ask(stage, scene);
      expect(read.toSorted()).toEqual((await truth(scene, ledger, stage)).toSorted());
      expect({ status: 200, body: json }).toEqual(
        z.object({ status: z.number(), body: z.unknown() }).parse(await stage.ask(path(scene), sent?.(scene))),
      );
    }, PATIENT);
  });

  test('is one of the twenty', () => {
    expect(new Set(SDK_CALLS.map(({ name }) => name)).size).toBe(20);
  });
});

test('an id is hashed as the hosted provider does, whatever its format and the letters of the address', async () => {
  const { nft } = stage.EvmApi;
  const named = { address: getAddress(scene.cats), chain: stage.chain };
  const row = z.object({ token_id: z.string(), token_hash: z.string() });
  const rowsOf = (json: unknown) => z.looseObject({ result: z.array(row) }).parse(json).result;
  const ids = ledger.idsOf(scene.cats);
  for (const format of ['decimal', 'hex'] as const) {
    const expected = ids
      .map((id) => ({
        token_id: format === 'hex' ? `0x${id.toString(16)}` : id.toString(),
        token_hash: createHash('md5').update(`${scene.cats}${id}`).digest('hex'),
      }))
      .toSorted(byHash);
    const one = await nft.getNFTMetadata({ ...named, format, tokenId: '1' });
    for (const found of [
      rowsOf((await nft.getContractNFTs({ ...named, format })).toJSON()),
      rowsOf((await nft.getNFTOwners({ ...named, format })).toJSON()),
    ])
      expect(found.toSorted(byHash)).toEqual(expected);
    expect(expected).toContainEqual(row.parse(one?.toJSON()));
  }
});

function byHash(one: { readonly token_hash: string }, other: { readonly token_hash: string }): number {
  return one.token_hash < other.token_hash ? -1 : 1;
}

test('a document that is no JSON object is null, and no call throws', async () => {
  const { nft } = stage.EvmApi;
  const named = { address: odd, chain: stage.chain };
  const documents = z.object({
    token_id: z.string(),
    metadata: z.string().nullable(),
    token_uri: z.string().nullable(),
  });
  const expected = DOCUMENTS.map((text, place) => ({
    token_id: String(place + 1),
    metadata: text === GOOD_DOCUMENT ? text : null,
    token_uri: `data:application/json;utf8,${text}`,
  }));
  const tokens = expected.map(({ token_id: tokenId }) => ({ tokenAddress: odd, tokenId }));
  await vi.waitFor(async () => {
    const several = await nft.getMultipleNFTs({ chain: stage.chain, tokens });
    expect(z.array(documents).parse(several.toJSON())).toEqual(expected);
    expect(several.result.map((row) => row?.metadata ?? null)).toEqual([
      null,
      null,
      null,
      null,
      { name: 'Fine' },
    ]);
  }, PATIENT);
  for (const { token_id: tokenId, metadata } of expected) {
    const one = await nft.getNFTMetadata({ ...named, tokenId });
    expect(Object(one?.toJSON()).metadata).toBe(metadata);
    expect(one?.result.metadata ?? null).toEqual(metadata === null ? null : { name: 'Fine' });
  }
  const page = z.looseObject({ result: z.array(documents) });
  const byId = (one: { token_id: string }, other: { token_id: string }) =>
    Number(one.token_id) - Number(other.token_id);
  for (const list of [
    await nft.getContractNFTs(named),
    await nft.getNFTOwners(named),
    await nft.getWalletNFTs({ ...named, address: oddHolder, tokenAddresses: [odd] }),
  ]) {
    expect(list.result).toHaveLength(DOCUMENTS.length);
    expect(page.parse(list.toJSON()).result.toSorted(byId)).toEqual(expected);
  }
});

test('of a wallet that nobody knows bare arrays are empty, and headers say what that is worth', async () => {
  const nobody = parseAddress(`0x${'7e'.repeat(20)}`);
  const { status, body, headers } = await stage.ask(`${nobody}/erc20`);
  expect([status, body, headers.get('x-indexed-complete'), headers.get('x-indexed-from-block')]).toEqual([
    200,
    [],
    'true',
    '0',
  ]);
  const answer = await stage.EvmApi.token.getWalletTokenBalances({ address: nobody, chain: stage.chain });
  expect([answer.result, answer.toJSON()]).toEqual([[], []]);
});
