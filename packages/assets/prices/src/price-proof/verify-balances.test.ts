/** Storage proofs of balances, over tries with one account and one slot. */
import {
  type Address,
  type Hash,
  keccak256,
  keccak256Hex,
  parseAddress,
  parseHash,
  ZERO_HASH,
} from '@chainstead/core';
import { slotOfHolder } from '@chainstead/erc20/requests';
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import type { PriceProof } from '../token-price/serve/price-proof-document.ts';
import type { CountedPool } from './proof-error.ts';
import { verifyBalances } from './verify-anchors.ts';

const [POOL, TOKEN, OTHER] = [addressOf(0x9001), addressOf(0xa), addressOf(0xb)];
const BALANCE = 123_456_789n;

/** RLP of bytes, or of a list of encoded items. */
const rlp = (content: Buffer, base = 0x80): Buffer => {
  if (base === 0x80 && content.length === 1 && (content[0] ?? 0) < 0x80) return content;
  if (content.length <= 55) return Buffer.concat([Buffer.from([base + content.length]), content]);
  const length = Buffer.from(content.length.toString(16).padStart(content.length > 255 ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([base + 55 + length.length]), length, content]);
};
const list = (...items: readonly Buffer[]): Buffer => rlp(Buffer.concat(items), 0xc0);
const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
const hexOf = (bytes: Buffer) => `0x${bytes.toString('hex')}` as const;
const integer = (value: bigint): Buffer => {
  const digits = value === 0n ? '' : value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
};

/** A trie with one leaf: its node. */
const leafOf = (key: string, value: Buffer): Buffer =>
  list(rlp(Buffer.concat([Buffer.from([0x20]), keccak256(bytesOf(key))])), rlp(value));

const CODE = keccak256Hex(Buffer.from('code'));

/** The balance of the pool in the storage of a token, and the response of a node. */
function stateOf(token: Address): {
  readonly stateRoot: Hash;
  readonly evidence: PriceProof['balances'][number];
} {
  const slot = slotOfHolder({ layout: 'solidity', slot: 3n }, POOL);
  const storage = leafOf(slot, rlp(integer(BALANCE)));
  const storageHash = keccak256Hex(storage);
  const account = leafOf(
    token,
    list(rlp(integer(1n)), rlp(integer(0n)), rlp(bytesOf(storageHash)), rlp(bytesOf(CODE))),
  );
  const proof = {
    ...{ address: token, balance: '0x0', nonce: '0x1', codeHash: CODE, storageHash },
    ...{ accountProof: [hexOf(account)] },
    storageProof: [{ key: slot, value: `0x${BALANCE.toString(16)}`, proof: [hexOf(storage)] }],
  };
  return {
    stateRoot: parseHash(keccak256Hex(account)),
    evidence: { pair_address: POOL, token_address: token, layout: 'solidity', slot: '3', proof },
  };
}

/** A concentrated pool with this balance of its first token. */
function poolWith(balance: bigint, stated = 'explanation.candidates[0]'): CountedPool {
  const side = { decimals: 6, balance: null, virtual_reserve: '0' };
  const state = {
    ...{ block: '9', time: 1, reserve0: null, reserve1: null, sqrt_price_x96: '1', liquidity: '1' },
    active_bin: null,
    ...{ balance0: String(balance), balance1: null },
  };
  return {
    stated,
    candidate: {
      ...{ pair_address: POOL, exchange_name: '', role: 'chosen', price_usd: '1', weight_usd: '1' },
      ...{ is_stable: null, bin_step: null, created_time: 0, reading_block: null, states: [state] },
      sides: [TOKEN, OTHER].map((token) => ({ ...side, token_address: token })),
    },
  };
}

const { stateRoot, evidence } = stateOf(TOKEN);

function verify(pools: readonly CountedPool[], balances: PriceProof['balances'] = [evidence], root = stateRoot) {
  const price = { number: 9, hash: ZERO_HASH, timestamp: 1, parentHash: ZERO_HASH, receiptsRoot: ZERO_HASH };
  const header = { ...price, stateRoot: root };
  const proof = { balances } as PriceProof;
  return verifyBalances(pools, proof, { price: header, byNumber: new Map(), byHash: new Map(), unlinked: [] });
}

describe('a balance of a pool', () => {
  test('is proven by the storage of its token', () => {
    expect(verify([poolWith(BALANCE)])).toEqual({
      proven: [`Balance of ${TOKEN} in pool ${POOL}: storage of the token`],
      unproven: [{ fact: `Slot 3 (solidity) of ${TOKEN} holds its balances`, reason: 'contract-call' }],
    });
    expect(verify([poolWith(BALANCE)], [])).toEqual({ proven: [], unproven: [] });
  });

  test.each<readonly [name: string, pools: readonly CountedPool[], message: string]>([
    [
      'another balance',
      [poolWith(1n)],
      `the balance of ${TOKEN} in pool ${POOL} is 1, but the storage has ${BALANCE}`,
    ],
    [
      'another balance of the same pool at a hop',
      [poolWith(BALANCE), poolWith(2n, 'explanation.hops[0].candidates[0]')],
      `the balance of ${TOKEN} in pool ${POOL} is 2, but the storage has ${BALANCE}`,
    ],
    ['no such pool', [], 'proof.balances[0] is not a balance of a concentrated pool that counts'],
  ])('is rejected with %s', (_, pools, message) => {
    expect(() => verify(pools)).toThrow(`The price proof is invalid: ${message}`);
  });

  test('is rejected with another state root, account or slot', () => {
    const stale = { ...evidence, slot: '4' };
    const other = { ...stateOf(parseAddress(OTHER)).evidence, token_address: TOKEN };
    const message =
      /^The price proof is invalid: proof\.balances\[0\] does not lead to the state root of block 9 \(/;
    expect(() => verify([poolWith(BALANCE)], [evidence], parseHash(ZERO_HASH))).toThrow(message);
    expect(() => verify([poolWith(BALANCE)], [stale])).toThrow(message);
    expect(() => verify([poolWith(BALANCE)], [other])).toThrow(message);
  });
});
