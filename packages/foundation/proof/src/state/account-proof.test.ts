import { type Address, type Hash, keccak256Hex, parseAddress, parseHash } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeList, encodeString, integerBytes } from '../rlp/rlp.ts';
import { hexToBytes } from '../rlp/rlp-text.ts';
import { InvalidStateProofError } from '../state-proof-error.ts';
import { buildTrie, hashedKey } from '../testing/hashed-trie.ts';
import { EMPTY_TRIE_ROOT } from '../tries/ordered-trie.ts';
import { verifyAccountProof } from './account-proof.ts';

const CODE_HASH = keccak256Hex(Buffer.from('code'));

interface Account {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly storage: ReadonlyMap<Hash, bigint>;
}

const word = (value: number): Hash => parseHash(`0x${value.toString(16).padStart(64, '0')}`);
const address = (value: number): Address => parseAddress(`0x${value.toString(16).padStart(40, '0')}`);
const hex = (node: Uint8Array): string => `0x${Buffer.from(node).toString('hex')}`;
const quantity = (value: bigint): string => `0x${value.toString(16)}`;

function storageTrie(storage: ReadonlyMap<Hash, bigint>) {
  return buildTrie(
    [...storage].map(
      ([slot, value]) => [hashedKey(hexToBytes(slot)), encodeString(integerBytes(value))] as const,
    ),
  );
}

/** A state, and the responses of a node that has it. */
function createState(accounts: ReadonlyMap<Address, Account>) {
  const leaves = [...accounts].map(([owner, { nonce, balance, storage }]) => {
    const members = [
      integerBytes(nonce),
      integerBytes(balance),
      hexToBytes(storageTrie(storage).root),
      hexToBytes(CODE_HASH),
    ];
    return [hashedKey(hexToBytes(owner)), encodeList(members.map(encodeString))] as const;
  });
  const trie = buildTrie(leaves);
  return {
    stateRoot: trie.root,
    answer(owner: Address, slots: readonly Hash[]) {
      const account = accounts.get(owner);
      const storage = storageTrie(account?.storage ?? new Map());
      return {
        address: owner,
        accountProof: trie.prove(hashedKey(hexToBytes(owner))).map(hex),
        balance: quantity(account?.balance ?? 0n),
        nonce: quantity(account?.nonce ?? 0n),
        codeHash: account === undefined ? word(0) : CODE_HASH,
        storageHash: account === undefined ? word(0) : storage.root,
        storageProof: slots.map((slot) => ({
          key: slot,
          value: quantity(account?.storage.get(slot) ?? 0n),
          proof: storage.prove(hashedKey(hexToBytes(slot))).map(hex),
        })),
      };
    },
  };
}

const amounts = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });
const storages = fc
  .array(fc.tuple(fc.nat({ max: 40 }), amounts), { maxLength: 12 })
  .map((slots) => new Map(slots.map(([slot, value]) => [word(slot), value])));
const states = fc
  .array(
    fc.tuple(
      fc.nat({ max: 60 }).map(address),
      fc.record({
        nonce: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        balance: fc.oneof(fc.constant(0n), amounts),
        storage: storages,
      }),
    ),
    { minLength: 1, maxLength: 10 },
  )
  .map((accounts) => new Map(accounts));

const SLOTS = [word(0), word(7), word(21), word(1_000)];

function fault(answer: unknown, requested: Parameters<typeof verifyAccountProof>[1]): string | null {
  try {
    verifyAccountProof(answer, requested);
    return null;
  } catch (error) {
    if (error instanceof InvalidStateProofError) return error.fault;
    throw error;
  }
}

describe('an answer of eth_getProof', () => {
  it('proves accounts and slots, there or not', () => {
    fc.assert(
      fc.property(states, fc.nat({ max: 70 }), (accounts, other) => {
        const { stateRoot, answer } = createState(accounts);
        for (const owner of [...accounts.keys(), address(other)]) {
          const account = accounts.get(owner);
          const proven = verifyAccountProof(answer(owner, SLOTS), { stateRoot, address: owner, slots: SLOTS });
          expect(proven).toMatchObject({
            exists: account !== undefined,
            balance: account?.balance ?? 0n,
            nonce: account?.nonce ?? 0n,
            slots: SLOTS.map((slot) => account?.storage.get(slot) ?? 0n),
          });
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is refused when any digit of any node is another', () => {
    fc.assert(
      fc.property(states, fc.nat(), fc.nat(), (accounts, ownerSeed, digitSeed) => {
        const { stateRoot, answer } = createState(accounts);
        const owners = [...accounts.keys()];
        const owner = owners[ownerSeed % owners.length] ?? address(0);
        const honest = answer(owner, SLOTS);
        const altered = (nodes: readonly string[]): string[][] =>
          nodes.map((node, place) => {
            const at = 2 + (digitSeed % (node.length - 2));
            const digit = node[at] === '0' ? '1' : '0';
            return nodes.with(place, node.slice(0, at) + digit + node.slice(at + 1));
          });
        const lies: unknown[] = altered(honest.accountProof).map((accountProof) => ({ ...honest, accountProof }));
        for (const [place, slot] of honest.storageProof.entries())
          for (const proof of altered(slot.proof))
            lies.push({ ...honest, storageProof: honest.storageProof.with(place, { ...slot, proof }) });
        for (const lie of lies) expect(fault(lie, { stateRoot, address: owner, slots: SLOTS })).not.toBeNull();
      }),
      { numRuns: 50 },
    );
  });
});

describe('one account', () => {
  const OWNER = address(0xa11ce);
  const accounts = new Map<Address, Account>([
    [OWNER, { nonce: 3n, balance: 10n ** 18n, storage: new Map([[word(7), 1_500n]]) }],
    [address(0xb0b), { nonce: 0n, balance: 5n, storage: new Map() }],
  ]);
  const { stateRoot, answer } = createState(accounts);
  const requested = { stateRoot, address: OWNER, slots: [word(7)] };
  const honest = answer(OWNER, [word(7)]);
  const [slot] = honest.storageProof;
  if (slot === undefined) throw new Error('the answer proves no slot');

  it('is told with everything that the state has of it', () => {
    expect(verifyAccountProof(honest, requested)).toEqual({
      exists: true,
      nonce: 3n,
      balance: 10n ** 18n,
      storageHash: honest.storageHash,
      codeHash: CODE_HASH,
      slots: [1_500n],
    });
    expect(verifyAccountProof(answer(address(1), []), { stateRoot, address: address(1), slots: [] })).toEqual({
      exists: false,
      nonce: 0n,
      balance: 0n,
      storageHash: EMPTY_TRIE_ROOT,
      codeHash: keccak256Hex(Buffer.alloc(0)),
      slots: [],
    });
  });

  it('may be written as nodes differ: checksummed addresses, padded words, short keys', () => {
    const written = {
      ...honest,
      address: `0x${OWNER.slice(2).toUpperCase()}`,
      storageProof: [{ ...slot, key: '0x7', value: word(1_500) }],
    };
    expect(verifyAccountProof(written, requested).slots).toEqual([1_500n]);
  });

  it.each<[string, unknown, string]>([
    ['another balance', { ...honest, balance: quantity(10n ** 18n + 1n) }, 'contradiction'],
    ['another nonce', { ...honest, nonce: '0x4' }, 'contradiction'],
    ['another storage root', { ...honest, storageHash: word(1) }, 'contradiction'],
    ['another code', { ...honest, codeHash: word(1) }, 'contradiction'],
    ['no balance', { ...honest, balance: null }, 'contradiction'],
    ['another value', { ...honest, storageProof: [{ ...slot, value: '0x5dd' }] }, 'contradiction'],
    ['another address', { ...honest, address: address(0xb0b) }, 'other-key'],
    ['a proof of another account', { ...answer(address(0xb0b), [word(7)]), address: OWNER }, 'node-mismatch'],
    ['another slot', { ...honest, storageProof: [{ ...slot, key: word(8) }] }, 'other-key'],
    ['a slot that was not asked for', { ...honest, storageProof: [slot, slot] }, 'other-key'],
    ['no slots', { ...honest, storageProof: [] }, 'other-key'],
    ['no proof of storage', { ...honest, storageProof: [{ ...slot, proof: [] }] }, 'too-short'],
    ['no proof', { ...honest, accountProof: [] }, 'too-short'],
    ['a node too many', { ...honest, accountProof: [...honest.accountProof, '0x80'] }, 'too-long'],
    ['a node too few', { ...honest, accountProof: honest.accountProof.slice(0, -1) }, 'too-short'],
    ['the proof of storage first', { ...honest, accountProof: slot.proof }, 'other-root'],
    ['a node that is no hexadecimal', { ...honest, accountProof: ['0xzz'] }, 'malformed'],
    ['a node that is no text', { ...honest, accountProof: [7] }, 'malformed'],
    ['a node of megabytes', { ...honest, accountProof: [`0x${'00'.repeat(2_000_000)}`] }, 'malformed'],
    ['nodes that are no list', { ...honest, accountProof: '0x' }, 'malformed'],
    ['nothing', null, 'malformed'],
    ['a list', [honest], 'malformed'],
  ])('is refused with %s', (_, lie, expected) => {
    expect(fault(lie, requested)).toBe(expected);
  });

  it('is refused under another root', () => {
    expect(fault(honest, { ...requested, stateRoot: word(5) })).toBe('other-root');
  });

  it('with other members than those of Ethereum says that its encoding is not known', () => {
    const members = [
      integerBytes(1),
      integerBytes(2),
      integerBytes(3),
      hexToBytes(EMPTY_TRIE_ROOT),
      hexToBytes(CODE_HASH),
    ];
    const trie = buildTrie([[hashedKey(hexToBytes(OWNER)), encodeList(members.map(encodeString))]]);
    const accountProof = trie.prove(hashedKey(hexToBytes(OWNER))).map(hex);
    expect(fault({ ...honest, accountProof }, { ...requested, stateRoot: trie.root })).toBe('account-encoding');
  });

  it('with a number that is not in its one encoding is refused', () => {
    const members = [
      Buffer.from('0001', 'hex'),
      integerBytes(2),
      hexToBytes(EMPTY_TRIE_ROOT),
      hexToBytes(CODE_HASH),
    ];
    const trie = buildTrie([[hashedKey(hexToBytes(OWNER)), encodeList(members.map(encodeString))]]);
    const accountProof = trie.prove(hashedKey(hexToBytes(OWNER))).map(hex);
    expect(fault({ ...honest, accountProof }, { ...requested, stateRoot: trie.root })).toBe('malformed');
  });

  it('with a list in place of the number of a slot is refused', () => {
    const storage = buildTrie([[hashedKey(hexToBytes(word(7))), encodeList([encodeString(integerBytes(5))])]]);
    const members = [integerBytes(1), integerBytes(2), hexToBytes(storage.root), hexToBytes(CODE_HASH)];
    const trie = buildTrie([[hashedKey(hexToBytes(OWNER)), encodeList(members.map(encodeString))]]);
    const given = {
      ...{ ...honest, nonce: '0x1', balance: '0x2', storageHash: storage.root },
      accountProof: trie.prove(hashedKey(hexToBytes(OWNER))).map(hex),
      storageProof: [
        { key: word(7), value: '0x5', proof: storage.prove(hashedKey(hexToBytes(word(7)))).map(hex) },
      ],
    };
    expect(fault(given, { ...requested, stateRoot: trie.root })).toBe('malformed');
  });
});
